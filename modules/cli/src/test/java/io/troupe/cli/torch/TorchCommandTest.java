package io.troupe.cli.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.cli.CommandOutput;
import io.troupe.engine.djl.GoldenStep;
import io.troupe.engine.djl.GoldenStepProcess;
import io.troupe.engine.djl.install.BindingCache;
import io.troupe.engine.djl.install.InstalledTorch;
import io.troupe.engine.djl.install.TorchBinding;
import io.troupe.engine.djl.install.TorchSearch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TorchCommandTest {
  @TempDir private Path folder;

  /** The package, with a version file and nothing else. */
  private String installed(String version) throws IOException {
    Path torch = Files.createDirectories(folder.resolve("torch"));
    Files.writeString(torch.resolve("version.py"), "__version__ = '%s'\n".formatted(version));
    return torch.toString();
  }

  @Test
  void list_json_hasDjlsOwnAndTheNamedOne() throws IOException {
    String place = installed("2.99.0+cpu");
    CommandOutput result = CommandOutput.by("torch", "list", place, "--json");

    assertThat(result.code()).isZero();
    List<String> lines = result.out().lines().toList();
    JsonNode own = new JsonMapper().readTree(lines.getFirst());
    JsonNode named = new JsonMapper().readTree(lines.get(1));
    assertThat(own.path("version").asText()).isEqualTo("2.7.1+cpu");
    assertThat(named.path("version").asText()).isEqualTo("2.99.0+cpu");
    assertThat(named.path("binding").asText()).isEqualTo("not built");
    assertThat(named.path("next").asText()).isEqualTo("troupe torch build " + place);
  }

  @Test
  void build_placeWithoutPyTorch_isBadUsageWithTheNextCommand() {
    CommandOutput result = CommandOutput.by("torch", "build", folder.toString());
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err())
        .startsWith("error: " + folder + ": PyTorch is not installed there; install it with");
  }

  @Test
  void build_withoutHeaders_namesThem() throws IOException {
    CommandOutput result = CommandOutput.by("torch", "build", installed("2.99.0+cpu"));
    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("its binding cannot be built here:", "torch/all.h");
  }

  @Test
  void build_bundledVersion_needsNone() throws IOException {
    CommandOutput result = CommandOutput.by("torch", "build", installed("2.7.1+cu128"));
    assertThat(result.code()).isZero();
    assertThat(result.out()).contains("needs no build: DJL's own binding is for it");
  }

  @Test
  void doctor_noBinding_failsAndNamesTheBuild() throws IOException {
    String place = installed("2.99.0+cpu");
    CommandOutput result = CommandOutput.by("torch", "doctor", place);
    assertThat(result.code()).isEqualTo(1);
    assertThat(result.out()).contains("fail  binding  not built", "troupe torch build " + place);
  }

  /**
   * An installed PyTorch of the version that DJL bundles: its library, as pip would have installed
   * it.
   */
  @Test
  void over_installedPyTorchOfTheBundledVersion_givesTheKnownNumbers() throws IOException {
    GoldenStep own = GoldenStep.compute();
    assumeThat(own.torch()).as("DJL's own PyTorch in this process").startsWith("2.7.1");
    InstalledTorch torch = TorchSearch.at(installed("2.7.1+cpu"));
    Files.createSymbolicLink(torch.lib(), Path.of(own.library()));

    GoldenStep step = GoldenStepProcess.over(torch, engineCache());

    assertThat(step.library()).isEqualTo(torch.lib().toString());
    assertThat(step.losses()).isEqualTo(own.losses());
    assertThat(step.norms()).isEqualTo(own.norms());
  }

  @Test
  void over_installedPyTorchWithABuiltBinding_givesTheKnownNumbers() throws IOException {
    Optional<InstalledTorch> built = Optional.empty();
    for (TorchSearch.Found found : new TorchSearch(System.getenv()).all("")) {
      if (BindingCache.here().find(found.torch()) instanceof TorchBinding.Built) {
        built = Optional.of(found.torch());
      }
    }
    assumeThat(built)
        .as("a PyTorch of TROUPE_TORCH or the search path, with a binding of `troupe torch build`")
        .isPresent();

    GoldenStep step = GoldenStepProcess.over(built.orElseThrow(), engineCache());

    assertThat(step.torch()).isEqualTo(built.orElseThrow().release());
    assertThat(step.distance()).isLessThan(GoldenStep.TOLERANCE);
  }

  private static Path engineCache() {
    return Objects.requireNonNull(BindingCache.here().root().getParent());
  }
}
