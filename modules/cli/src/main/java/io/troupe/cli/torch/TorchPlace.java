package io.troupe.cli.torch;

import io.troupe.engine.djl.install.InstalledTorch;
import io.troupe.engine.djl.install.TorchSearch;
import io.troupe.engine.djl.install.UnusableTorchException;
import java.io.IOException;
import picocli.CommandLine.Parameters;

/** The parameter that names an installed PyTorch. */
final class TorchPlace {
  @Parameters(
      arity = "0..1",
      paramLabel = "PLACE",
      description =
          "A virtual environment, its Python, or the folder of the package; without it that of"
              + " TROUPE_TORCH, else that of the Python on the search path.")
  private String place = "";

  /**
   * Finds the PyTorch of the place, or the first that there is.
   *
   * @throws UnusableTorchException if there is none
   */
  InstalledTorch chosen() throws IOException {
    return new TorchSearch(System.getenv())
        .all(place).stream()
            .map(TorchSearch.Found::torch)
            .findFirst()
            .orElseThrow(
                () ->
                    new UnusableTorchException(
                        "no PyTorch is installed for the Python on the search path; name a virtual"
                            + " environment, or install it: python3 -m pip install torch"));
  }
}
