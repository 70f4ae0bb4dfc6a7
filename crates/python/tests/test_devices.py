"""Devices: the simulated GPU, and a real one if there is one."""

import numpy as np
import pytest
import warpmp as wp
from hypothesis import given, settings
from operands import integers, naturals, pairs

DEVICES = ["sim", *wp.devices()[1:]]


def test_devices():
    assert wp.devices()[0] == "cpu"
    assert "CPU" in wp.describe("cpu") or "cpu" in wp.describe("cpu")
    with pytest.raises(ValueError, match="no device is called 'tpu'"):
        wp.array([1], device="tpu")


@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=4)
@given(rows=pairs(integers(), integers(), naturals(1), lanes=3))
def test_arithmetic(device, rows):
    columns = [list(column) for column in zip(*rows)]
    a, b, m = (wp.array(column, device=device) for column in columns)
    c = a * b + 1
    assert c.device == device and c.to_list() == [x * y + 1 for x, y, _ in rows]
    assert (a - b).to_list() == [x - y for x, y, _ in rows]
    assert (a // m).to_list() == [x // z for x, _, z in rows]
    assert (a % m).to_list() == [x % z for x, _, z in rows]
    assert (a < b).tolist() == [x < y for x, y, _ in rows]
    assert wp.wrapping(a, 40).to_list() == [x % 2**40 for x, _, _ in rows]
    assert (wp.array(columns[0], device=device) ^ 5).to_list() == [x ^ 5 for x, _, _ in rows]


@pytest.mark.parametrize("device", DEVICES)
def test_lanes(device):
    numbers = [5, 6, 7, 2**100]
    a = wp.array(numbers).to(device)
    assert (a.device, a.to("cpu").device) == (device, "cpu")
    assert a[1:3].device == device and a[1:3].to_list() == [6, 7]
    assert a[a > 5].to_list() == [6, 7, 2**100] and a[a > 5].device == device
    assert a[-1] == 2**100 and repr(a).endswith(f"{device})")
    assert wp.concatenate([a, a]).device == device
    assert wp.where([True, False, True, False], a, 0).to_list() == [5, 0, 7, 0]
    assert wp.powmod(a, 65537, 1000003).to_list() == [pow(x, 65537, 1000003) for x in numbers]
    ring = wp.Mod(97, device=device)
    assert (ring(a) * ring(a)).to_list() == [x * x % 97 for x in numbers]
    with pytest.raises(ValueError, match="operands are on"):
        a + wp.array([1, 2, 3, 4])


def test_device_by_default():
    wp.set_device("sim")
    try:
        assert wp.get_device() == "sim" and wp.array([1]).device == wp.random(1, 8).device == "sim"
    finally:
        wp.set_device("cpu")


def test_no_limbs_of_the_simulator():
    a = wp.array([1, 2], device="sim")
    assert not hasattr(a, "__cuda_array_interface__")
    with pytest.raises(BufferError):
        np.from_dlpack(a)


@pytest.mark.skipif(len(DEVICES) == 1, reason="no GPU")
def test_limbs_of_a_gpu():
    a = wp.random(1000, bits=256, seed=1).to("cuda:0")
    interface = a.__cuda_array_interface__
    assert interface["shape"] == (1000, 8) and interface["typestr"] == "<u4" and interface["data"][0] % 256 == 0
