"""Devices: the simulated GPU, and a real one if there is one."""

import ctypes
import gc

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
    for share in (lambda: np.from_dlpack(a), a.__dlpack__, a.__dlpack_device__):
        with pytest.raises(BufferError):
            share()


def test_capsules():
    a = wp.random(100, bits=100, seed=7)
    expected = a.to_limbs().copy()
    assert a.__dlpack_device__() == (1, 0)
    # Capsules that nobody reads, and one that outlives its array.
    for _ in range(10):
        a._batch.__dlpack__(stream=1, max_version=(1, 0), dl_device=(1, 0), copy=False)
    limbs = np.from_dlpack(a[10:]._batch)
    del a
    gc.collect()
    wp.random(100, bits=100, seed=8)
    assert limbs.dtype == np.uint32 and (limbs == expected[10:]).all()
    empty = np.from_dlpack(wp.array([])._batch)
    assert empty.shape == (0, 1)
    for options in ({"dl_device": (2, 0)}, {"copy": True}):
        with pytest.raises(BufferError):
            wp.array([1])._batch.__dlpack__(**options)


class OnGpu:
    """Limbs that another library has on a GPU."""

    def __init__(self, address, shape, typestr="<u4", **more):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": typestr, "data": (address, False), "version": 3, **more}


def test_limbs_of_other_libraries_are_judged():
    for wrong, kind in [
        (OnGpu(64, (2, 3), "<i4"), TypeError),
        (OnGpu(64, (2, 3), "<u2"), TypeError),
        (OnGpu(64, (2, 3), mask=OnGpu(64, (2, 3))), TypeError),
        (OnGpu(64, (2, 3), strides=(24, 4)), ValueError),
        (OnGpu(64, (2, 3, 4)), ValueError),
    ]:
        with pytest.raises(kind):
            wp.from_limbs(wrong)
        with pytest.raises((kind, AttributeError)):
            wp.from_dlpack(wrong)


@pytest.mark.skipif(len(DEVICES) > 1, reason="there is a GPU")
def test_limbs_of_a_gpu_without_a_driver():
    for right in (OnGpu(64, (2, 3)), OnGpu(64, (2,), "<u8", strides=(8,)), OnGpu(64, (2, 3), "<u8", strides=(24, 8))):
        with pytest.raises(RuntimeError):
            wp.from_limbs(right)


@pytest.mark.skipif(len(DEVICES) == 1, reason="no GPU")
def test_limbs_of_a_gpu():
    a = wp.random(1000, bits=256, seed=1).to("cuda:0")
    interface = a.__cuda_array_interface__
    assert interface["shape"] == (1000, 8) and interface["typestr"] == "<u4" and interface["data"][0] % 256 == 0


@pytest.fixture
def driver():
    """NVIDIA's driver, with the context that all libraries share."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxPushCurrent_v2(context) == 0
    yield cuda
    assert cuda.cuCtxPopCurrent_v2(ctypes.byref(context)) == 0
    assert cuda.cuDevicePrimaryCtxRelease_v2(0) == 0


@pytest.mark.skipif(len(DEVICES) == 1, reason="no GPU")
@pytest.mark.parametrize("word", [np.uint32, np.uint64])
def test_a_gpu_shares_its_memory(driver, word):
    a = wp.random(1000, bits=192, seed=1)
    limbs = a.to_limbs(word).copy()
    address = ctypes.c_uint64()
    assert driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(limbs.nbytes)) == 0
    assert driver.cuMemcpyHtoD_v2(address, limbs.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(limbs.nbytes)) == 0
    there = OnGpu(address.value, limbs.shape, f"<u{limbs.itemsize}")
    b = wp.from_limbs(there)
    assert b.device == "cuda:0" and b.bits == 192 and (b == a.to("cuda:0")).all()
    assert wp.from_limbs(there, device="cpu").device == "cpu"
    # The array has a copy.
    assert driver.cuMemFree_v2(address) == 0
    c = b * b
    read = np.empty((1000, 12), np.uint32)
    pointer = ctypes.c_uint64(c.__cuda_array_interface__["data"][0])
    assert driver.cuMemcpyDtoH_v2(read.ctypes.data_as(ctypes.c_void_p), pointer, ctypes.c_size_t(read.nbytes)) == 0
    assert wp.from_limbs(read).to_list() == [x * x for x in a]


@pytest.mark.skipif(len(DEVICES) == 1, reason="no GPU")
@pytest.mark.parametrize("name", ["cupy", "torch"])
def test_other_libraries_on_a_gpu(name):
    library = pytest.importorskip(name)
    a = wp.random(1000, bits=256, seed=2)
    b = a.to("cuda:0")
    assert b.__dlpack_device__() == (2, 0)
    shared = library.from_dlpack(b)
    host = shared.get() if name == "cupy" else shared.cpu().numpy()
    assert host.dtype == np.uint32 and (host == a.to_limbs()).all()
    del b
    again = wp.from_dlpack(shared)
    assert again.device == "cuda:0" and (again == a.to("cuda:0")).all()
    assert (wp.from_limbs(shared) * 3).to_list() == [3 * x for x in a]
