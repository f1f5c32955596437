package io.troupe.accelerator.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.accelerator.nccl.AcceleratorLibraries.Search;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AcceleratorLibrariesTest {
  @TempDir private Path folder;

  private Path file(String name) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, "");
  }

  @Test
  void find_environmentOfPip_findsBoth() throws IOException {
    Path site = folder.resolve("lib/python3.12/site-packages/nvidia");
    Path nccl = file(site.resolve("nccl/lib/libnccl.so.2").toString());
    Path cudart = file(site.resolve("cu13/lib/libcudart.so.13").toString());
    assertThat(AcceleratorLibraries.find(List.of(folder.resolve("other"), folder), Map.of()))
        .isEqualTo(new Search.Found(nccl, cudart));
    Path own = file("own/libnccl.so.2");
    assertThat(
            AcceleratorLibraries.find(List.of(folder), Map.of("VLLM_NCCL_SO_PATH", own.toString())))
        .isEqualTo(new Search.Found(own, cudart));
    assertThat(AcceleratorLibraries.environmentOf(folder.resolve("bin/vllm"))).contains(folder);
    assertThat(AcceleratorLibraries.environmentOf(folder.resolve("vllm"))).isEmpty();
  }

  @Test
  void find_nothing_saysWhatWhereAndTheNextStep() throws IOException {
    assertThat(AcceleratorLibraries.find(List.of(folder), Map.of()))
        .isEqualTo(
            new Search.Missing(
                "no libnccl.so.2 in %s; install vLLM or a PyTorch for CUDA there, or set VLLM_NCCL_SO_PATH"
                    .formatted(folder)));
    file("lib/libnccl.so.2");
    assertThat(AcceleratorLibraries.find(List.of(folder), Map.of()))
        .isEqualTo(
            new Search.Missing(
                "no libcudart.so.13 or libcudart.so.12 in %s; install vLLM or a PyTorch for CUDA there"
                    .formatted(folder)));
    assertThat(AcceleratorLibraries.find(List.of(folder), Map.of("VLLM_NCCL_SO_PATH", "/no/such")))
        .isEqualTo(
            new Search.Missing(
                "VLLM_NCCL_SO_PATH names /no/such, which is no file; name the libnccl.so.2 that the inference servers load"));
  }
}
