# docker build -t tandem . && docker run --rm -v "$PWD:/data" tandem compare mine.csv
FROM rust:1.95-alpine AS build
RUN apk add --no-cache git musl-dev
COPY . /tandem
RUN cargo install --locked --path /tandem/crates/sim-cli --root /out

FROM scratch
COPY --from=build /out/bin/tandem /bin/tandem
WORKDIR /data
ENTRYPOINT ["/bin/tandem"]
