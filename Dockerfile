# The program with NVIDIA's container runtime:
#
#   docker build -t warpmp .
#   docker run --rm --gpus all warpmp devices
#   docker run --rm --gpus all -v "$PWD:/data" warpmp mul a.txt b.txt -o products.txt
#
# Without --gpus it computes on the CPU. The driver of the host compiles the kernels: the image has no CUDA toolkit.
FROM rust:1.89-slim-bookworm AS build
# For the commit in --version.
RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo build --locked --profile dist -p warpmp-cli

FROM debian:bookworm-slim
COPY --from=build /src/target/dist/warpmp /usr/local/bin/warpmp
COPY --from=build /src/LICENSE-MIT /src/LICENSE-APACHE /usr/share/doc/warpmp/
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
WORKDIR /data
ENTRYPOINT ["warpmp"]
CMD ["--help"]
