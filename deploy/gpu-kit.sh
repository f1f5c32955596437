#!/usr/bin/env bash
# Packs Troupe for a machine with a GPU and without Java, Maven and a network:
#   deploy/gpu-kit.sh KIT.tar.xz [DJL-SOURCES.tar.gz]
# There, with the Python environment that has PyTorch for CUDA:
#   tar -xf KIT.tar.xz && export TROUPE_TORCH=/path/to/environment
#   gpu-kit/bench-gpu --only g1            # `troupe bench gpu`; g1 builds the binding
#   gpu-kit/troupe train gpu-kit/conf/quickstart.yaml --set policy.device=cuda
# The kit has a Java of its own with its headers, the jars, conf/, the programs in Python, and DJL's sources if they
# were given. What takes room and is not needed for these commands is left out: libtorch for CPUs, tokenizers of
# pretrained models, clients of EC2 and SageMaker, Parquet.
set -euo pipefail
home=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
[ $# -ge 1 ] || { echo "usage: deploy/gpu-kit.sh KIT.tar.xz [DJL-SOURCES.tar.gz]" >&2; exit 2; }
kit=$(realpath -m "$1")
sources=${2:+$(realpath "$2")}
readonly unused='pytorch-native-cpu|/tokenizers/|awssdk/(ec2|sagemaker|cloudwatchlogs|sts|netty)|parquet|zstd|snappy|lz4|langdetect|netty|wasm'
"$home/troupe" bench gpu --help >/dev/null # builds what is out of date
java=${JAVA_HOME:-}
[ -x "$java/bin/jlink" ] || java=$(dirname "$(dirname "$(readlink -f "$(type -P jlink || echo /usr/lib/jvm/temurin-25-jdk-amd64/bin/jlink)")")")
[ -x "$java/bin/jlink" ] || { echo "error: no jlink; set JAVA_HOME to a JDK 25" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/gpu-kit/jars" "$work/gpu-kit/modules/benchmarks/src/main" "$work/gpu-kit/docs"
"$java/bin/jlink" --add-modules java.base,java.logging,java.management,java.naming,java.net.http,java.sql,java.xml,jdk.management,jdk.httpserver,jdk.unsupported,jdk.zipfs,jdk.security.auth,jdk.jfr,jdk.crypto.ec \
  --strip-debug --no-man-pages --output "$work/gpu-kit/java"
cp -r "$java/include" "$work/gpu-kit/java/" # for the binding's build

# store JAR: adds a jar that is not compressed, for xz compresses all of them together far better.
store() {
  rm -rf "$work/jar" && mkdir "$work/jar"
  (cd "$work/jar" && "$java/bin/jar" --extract --file "$1")
  (cd "$work/jar" && "$java/bin/jar" --create --no-compress --no-manifest --file "$work/gpu-kit/jars/$(basename "$1")" .)
}
class_path=$home/modules/benchmarks/target/troupe-benchmarks.jar:$(<"$home/modules/benchmarks/target/classpath.txt")
class_path=$class_path:$home/modules/cli/target/troupe-cli.jar:$(<"$home/modules/cli/target/classpath.txt")
while IFS= read -r -d : jar; do
  [[ $jar =~ $unused ]] || [ -e "$work/gpu-kit/jars/$(basename "$jar")" ] || store "$jar"
done <<<"$class_path:"
cp -r "$home/modules/benchmarks/src/main/python" "$work/gpu-kit/modules/benchmarks/src/main/"
cp -r "$home/conf" "$work/gpu-kit/"
[ -z "$sources" ] || cp "$sources" "$work/gpu-kit/djl-sources.tar.gz"

# launcher NAME MAIN LINE: a command that runs a main class with the Java and the jars beside it.
launcher() {
  cat >"$work/gpu-kit/$1" <<SCRIPT
#!/usr/bin/env bash
set -eu
kit=\$(cd -P "\$(dirname "\${BASH_SOURCE[0]}")" && pwd -P)
$3
compiler=
case \$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "\$kit/java/release") in
  25) compiler='-XX:+UnlockDiagnosticVMOptions -XX:-ReduceAllocationMerges' ;;
esac
exec "\$kit/java/bin/java" --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \$compiler -Xmx2g -XX:+UseParallelGC \\
  -Dstdout.encoding=UTF-8 -Dstderr.encoding=UTF-8 -Dai.djl.offline=true "-Dtroupe.home=\$kit" -cp "\$kit/jars/*" $2 "\$@"
SCRIPT
  chmod +x "$work/gpu-kit/$1"
}
launcher troupe io.troupe.cli.Main ''
launcher bench-gpu io.troupe.benchmarks.gpu.GpuBenchmark \
  '[ ! -e "$kit/djl-sources.tar.gz" ] || set -- --sources "$kit/djl-sources.tar.gz" "$@"'
tar -C "$work" -cf - gpu-kit | xz -T0 -6 >"$kit"
echo "$kit: $(($(stat -c %s "$kit") >> 20)) MiB"
