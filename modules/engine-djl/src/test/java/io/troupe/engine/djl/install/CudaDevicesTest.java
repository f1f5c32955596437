package io.troupe.engine.djl.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The calls of the CUDA runtime, over a library that is compiled here. */
final class CudaDevicesTest {
  private static final Path COMPILER = Path.of("/usr/bin/cc");

  @TempDir private Path folder;

  private Path library(String name, int error) throws IOException, InterruptedException {
    assumeThat(COMPILER).as("a C compiler").isExecutable();
    Path source = folder.resolve(name + ".c");
    Files.writeString(
        source,
        """
        #include <stddef.h>
        static int device;
        int cudaGetDeviceCount(int *count) { *count = 2; return %d; }
        int cudaSetDevice(int index) { device = index; return 0; }
        int cudaMemGetInfo(size_t *unused, size_t *total) {
          *total = 100 + device; *unused = 60; return 0; }
        #define NONE(name) int name(void) { return 1; }
        NONE(cudaStreamCreateWithFlags) NONE(cudaStreamDestroy) NONE(cudaStreamQuery)
        NONE(cudaMalloc) NONE(cudaFree) NONE(cudaMemcpyAsync)
        NONE(cudaHostRegister) NONE(cudaHostUnregister)
        const char *cudaGetErrorString(int error) { return "no CUDA-capable device is detected"; }
        """
            .formatted(error));
    Path library = folder.resolve("lib" + name + ".so");
    Process compiler =
        new ProcessBuilder(
                COMPILER.toString(),
                "-shared",
                "-fPIC",
                "-o",
                library.toString(),
                source.toString())
            .inheritIO()
            .start();
    assertThat(compiler.waitFor()).isZero();
    return library;
  }

  @Test
  void of_runtimeWithTwoDevices_saysTheMemoryOfEach() throws Exception {
    assertThat(CudaDevices.of(library("two", 0)))
        .isEqualTo(
            new CudaDevices(
                List.of(new CudaDevices.Memory(40, 100), new CudaDevices.Memory(41, 101)), ""));
  }

  @Test
  void of_runtimeWithoutADriver_saysWhy() throws Exception {
    assertThat(CudaDevices.of(library("none", 100)))
        .isEqualTo(
            new CudaDevices(
                List.of(), "cudaGetDeviceCount: no CUDA-capable device is detected (100)"));
  }

  @Test
  void of_fileThatIsNoLibrary_saysSo() throws IOException {
    Path text = Files.writeString(folder.resolve("text.so"), "text");
    CudaDevices devices = CudaDevices.of(text);
    assertThat(devices.devices()).isEmpty();
    assertThat(devices.refusal()).contains(text.toString());
  }
}
