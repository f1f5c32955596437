#!/usr/bin/env bash
# Packs `troupe bench gpu` for a machine with a GPU and without Java, Maven and a network:
#   deploy/gpu-kit.sh KIT.tar.xz [DJL-SOURCES.tar.gz]
# There, with the Python environment that has PyTorch for CUDA:
#   tar -xf KIT.tar.xz && TROUPE_TORCH=/path/to/environment ./gpu-kit/bench-gpu --only g1
# The kit has a Java of its own with its headers, the jars that the rows need, the programs in Python, and DJL's
# sources if they were given. What takes its room and is not needed there is left out: libtorch for CPUs, tokenizers,
# clients of Amazon, Akka, Parquet.
set -euo pipefail
home=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
[ $# -ge 1 ] || { echo "usage: deploy/gpu-kit.sh KIT.tar.xz [DJL-SOURCES.tar.gz]" >&2; exit 2; }
kit=$(realpath -m "$1")
sources=${2:+$(realpath "$2")}
readonly unused='pytorch-native-cpu|/tokenizers/|software/amazon|typesafe/akka|scala-|parquet|zstd|snappy|lz4|langdetect|netty|wasm'
"$home/troupe" bench gpu --help >/dev/null # builds what is out of date
java=${JAVA_HOME:-}
[ -x "$java/bin/jlink" ] || java=$(dirname "$(dirname "$(readlink -f "$(type -P jlink || echo /usr/lib/jvm/temurin-25-jdk-amd64/bin/jlink)")")")
[ -x "$java/bin/jlink" ] || { echo "error: no jlink; set JAVA_HOME to a JDK 25" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/gpu-kit/jars" "$work/gpu-kit/modules/benchmarks/src/main" "$work/gpu-kit/docs"
"$java/bin/jlink" --add-modules java.base,java.logging,java.management,java.naming,java.net.http,java.sql,java.xml,jdk.management,jdk.httpserver,jdk.unsupported,jdk.zipfs,jdk.security.auth \
  --strip-debug --no-man-pages --output "$work/gpu-kit/java"
cp -r "$java/include" "$work/gpu-kit/java/" # for the binding's build
class_path=$home/modules/benchmarks/target/troupe-benchmarks.jar:$(<"$home/modules/benchmarks/target/classpath.txt")
while IFS= read -r -d : jar; do
  [[ $jar =~ $unused ]] || cp "$jar" "$work/gpu-kit/jars/"
done <<<"$class_path:"
cp -r "$home/modules/benchmarks/src/main/python" "$work/gpu-kit/modules/benchmarks/src/main/"
[ -z "$sources" ] || cp "$sources" "$work/gpu-kit/djl-sources.tar.gz"
cat >"$work/gpu-kit/bench-gpu" <<'SCRIPT'
#!/usr/bin/env bash
# bench-gpu OPTIONS: `troupe bench gpu` with the Java and the jars beside this file.
set -eu
kit=$(cd -P "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
[ ! -e "$kit/djl-sources.tar.gz" ] || set -- --sources "$kit/djl-sources.tar.gz" "$@"
exec "$kit/java/bin/java" --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -Xmx1g -XX:+UseParallelGC \
  -Dstdout.encoding=UTF-8 -Dstderr.encoding=UTF-8 -Dai.djl.offline=true "-Dtroupe.home=$kit" \
  -cp "$kit/jars/*" io.troupe.benchmarks.gpu.GpuBenchmark "$@"
SCRIPT
chmod +x "$work/gpu-kit/bench-gpu"
tar -C "$work" -cf - gpu-kit | xz -T0 -6 >"$kit"
echo "$kit: $(($(stat -c %s "$kit") >> 20)) MiB"
