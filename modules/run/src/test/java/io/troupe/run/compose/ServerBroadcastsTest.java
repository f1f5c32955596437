package io.troupe.run.compose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.troupe.accelerator.host.HostStandIn;
import io.troupe.config.RunConfig;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.engine.http.broadcast.WeightBroadcaster;
import io.troupe.engine.http.sidecar.ServerCommand;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerBroadcastsTest {
  @TempDir private Path folder;

  private RunConfig config(String... settings) {
    return ConfigurationFile.bind(
            RunConfig.class, folder.resolve("run.yaml"), TestRuns.TOY, List.of(settings))
        .config();
  }

  private RunConfig broadcasting() {
    return config(
        "rollout.weights=nccl",
        "rollout.sidecars.count=1",
        "rollout.sidecars.server=command",
        "rollout.sidecars.command=[%s, \"{port}\"]".formatted(folder.resolve("bin/vllm")));
  }

  @Test
  void open_hostWithoutNccl_isRefusedWithTheNextStep() throws Exception {
    assertThat(ServerBroadcasts.open(config(), Map.of())).isEmpty();
    assertThatThrownBy(
            () -> ServerBroadcasts.open(broadcasting(), Map.of("VIRTUAL_ENV", folder.toString())))
        .hasMessage(
            "rollout.weights: nccl cannot be used: no libnccl.so.2 in %s; install vLLM or a PyTorch for CUDA there, or set VLLM_NCCL_SO_PATH; or set rollout.weights: files"
                .formatted(folder));
  }

  @Test
  void open_environmentOfTheServers_loadsItsLibrariesAndNamesThemToServers() throws Exception {
    Path nvidia = Files.createDirectories(folder.resolve("lib/python3.12/site-packages/nvidia"));
    Path nccl = Files.createDirectories(nvidia.resolve("nccl/lib")).resolve("libnccl.so.2");
    Path cuda = Files.createDirectories(nvidia.resolve("cu13/lib")).resolve("libcudart.so.13");
    Optional<Path> library = HostStandIn.compile(folder);
    assumeTrue(library.isPresent(), "no C compiler (cc) on this host to build the stand-in with");
    Files.copy(library.get(), nccl);
    Files.copy(library.get(), cuda);
    Optional<WeightBroadcaster> opened = ServerBroadcasts.open(broadcasting(), Map.of());
    assertThat(opened).isPresent();
    opened.get().close();
    ServerCommand server =
        ServerBroadcasts.receiving(
            new ServerCommand(List.of("vllm"), Map.of()), broadcasting(), Map.of());
    assertThat(server.words())
        .containsExactly("vllm", "--weight-transfer-config", "{\"backend\":\"nccl\"}");
    assertThat(server.environment()).containsEntry("VLLM_NCCL_SO_PATH", nccl.toString());
  }
}
