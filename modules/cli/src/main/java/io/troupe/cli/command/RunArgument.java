package io.troupe.cli.command;

import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Parameters;

/** The parameter that names a run. */
public final class RunArgument {
  private static final Path RUNS = Path.of("runs");

  @Parameters(paramLabel = "RUN", description = "Folder or name of the run.")
  private String run = "";

  /** The folder of the run, to write in. */
  public RunFolder open() throws IOException {
    return RunFolder.open(RUNS, run);
  }

  /** The folder of the run, to read only. */
  public RunFolder view() throws IOException {
    return RunFolder.view(RUNS, run);
  }

  /** The name as given. */
  @Override
  public String toString() {
    return run;
  }
}
