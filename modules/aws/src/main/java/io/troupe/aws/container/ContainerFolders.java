package io.troupe.aws.container;

import java.nio.file.Path;
import java.util.Map;

/**
 * The folders of a container's contract with SageMaker.
 *
 * @param base {@code /opt/ml}, or a folder that plays it
 * @param model folder whose content SageMaker packs at the end
 */
public record ContainerFolders(Path base, Path model) {
  /** The variable of SageMaker's toolkit for another base. */
  public static final String BASE = "SAGEMAKER_BASE_DIR";

  private static final Path DEFAULT = Path.of("/opt/ml");

  /** The folders that the environment names. */
  static ContainerFolders of(Map<String, String> environment) {
    Path base = Path.of(environment.getOrDefault(BASE, DEFAULT.toString()));
    return new ContainerFolders(
        base, Path.of(environment.getOrDefault("SM_MODEL_DIR", base.resolve("model").toString())));
  }

  /** The folders below a base. */
  public static ContainerFolders in(Path base) {
    return new ContainerFolders(base, base.resolve("model"));
  }

  /** Returns the folder of the channels of a job on SageMaker. */
  public static Path defaultData() {
    return in(DEFAULT).data();
  }

  /** The folder of the channels. */
  public Path data() {
    return base.resolve("input").resolve("data");
  }

  /** A file of the job's description. */
  public Path description(String file) {
    return base.resolve("input").resolve("config").resolve(file);
  }

  /** The working folder of the run. */
  Path work() {
    return base.resolve("checkpoints");
  }

  /** Returns the folder of the runs. */
  Path runs() {
    return work().resolve("runs");
  }

  /** The configuration of the run. */
  Path config() {
    return work().resolve("run.yaml");
  }

  /** Returns the folder that SageMaker packs at the end, beside the model. */
  Path results() {
    return base.resolve("output").resolve("data");
  }

  /** The file whose first kilobyte SageMaker shows as the reason of a failure. */
  Path failure() {
    return base.resolve("output").resolve("failure");
  }
}
