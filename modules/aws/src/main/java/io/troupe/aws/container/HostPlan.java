package io.troupe.aws.container;

import io.troupe.base.net.HostPort;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The processes of a host of a job, as arguments of the program; a pure function of the contract
 * and of what the host finds.
 *
 * @param contract of the container
 * @param folders of the container
 * @param found on this host
 */
record HostPlan(ContainerContract contract, ContainerFolders folders, HostFindings found) {
  /** The port of the coordinator. */
  static final int PORT = 7400;

  /** The port on which the first host reports the end of its run. */
  static final int END_PORT = 7399;

  private static final String PLAIN = "--allow-plain-tcp";

  /**
   * The findings of a host.
   *
   * @param gpus of the host
   * @param address of the host between the hosts
   * @param coordinator address of the first host
   * @param copy place on S3 of the run to continue, if an earlier container of the job left one
   */
  record HostFindings(int gpus, String address, String coordinator, Optional<String> copy) {}

  /** The arguments that train, on the host that coordinates. */
  List<String> train() {
    List<String> words = new ArrayList<>(List.of("train"));
    if (found.copy().isPresent()) {
      words.addAll(List.of("--resume", found.copy().get()));
      words.addAll(s3());
    } else {
      words.addAll(List.of(folders.config().toString(), "--continue"));
      Map<String, String> assignments = new TreeMap<>(contract.parameters().assignments());
      assignments.put("run.folder", folders.runs().toString());
      assignments.forEach((key, value) -> words.addAll(List.of("--set", key + "=" + value)));
    }
    if (!contract.alone()) {
      words.addAll(List.of("--cluster", "--address", found.address()));
      words.addAll(List.of("--port", Integer.toString(PORT), PLAIN));
    } else if (!trainGpus().isEmpty()) {
      words.addAll(List.of("--gpus", trainGpus()));
    }
    return words;
  }

  /** Returns the options of train that reach the copy on S3. */
  private List<String> s3() {
    Map<String, String> assignments = contract.parameters().assignments();
    String endpoint = assignments.getOrDefault("run.sync_endpoint", "");
    String region = assignments.getOrDefault("run.sync_region", "");
    List<String> options = new ArrayList<>();
    if (!endpoint.isEmpty()) {
      options.addAll(List.of("--s3-endpoint", endpoint));
    }
    if (!region.isEmpty()) {
      options.addAll(List.of("--s3-region", region));
    }
    if (assignments.getOrDefault("run.sync_path_style", "").equals("true")) {
      options.add("--s3-path-style");
    }
    return options;
  }

  /** The arguments of this host's node agent; none where the host is alone. */
  Optional<List<String>> node() {
    if (contract.alone()) {
      return Optional.empty();
    }
    return Optional.of(
        List.of(
            "node",
            "--with-parent",
            "--name",
            contract.host(),
            "--address",
            found.address(),
            "--seed",
            new HostPort(found.coordinator(), PORT).toString(),
            "--gpus",
            trainGpus().isEmpty() ? "auto" : trainGpus(),
            "--data",
            folders.work().resolve("node-data").toString(),
            PLAIN));
  }

  /** GPUs that train, as {@code --gpus} takes them; empty if the configuration says it. */
  String trainGpus() {
    String asked = contract.variable(ContainerContract.TRAIN_GPUS);
    if (!asked.equals("auto")) {
      return asked;
    }
    TreeSet<String> evaluate = new TreeSet<>(numbers(evalGpus()));
    return IntStream.range(0, found.gpus())
        .mapToObj(Integer::toString)
        .filter(gpu -> !contract.coordinates() || !evaluate.contains(gpu))
        .collect(Collectors.joining(","));
  }

  private static List<String> numbers(String list) {
    List<String> numbers = new ArrayList<>();
    for (String part : list.isEmpty() ? new String[0] : list.split(",", -1)) {
      String[] ends = part.split("-", -1);
      IntStream.rangeClosed(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]))
          .mapToObj(Integer::toString)
          .forEach(numbers::add);
    }
    return numbers;
  }

  private String evalGpus() {
    return contract.variable(ContainerContract.EVAL_GPUS);
  }

  /** The arguments that evaluate checkpoints of a run; none if the job evaluates none. */
  Optional<List<String>> evaluate(Path run) {
    if (contract.evalEvery() == 0) {
      return Optional.empty();
    }
    return Optional.of(
        List.of(
            "eval",
            "watch",
            run.toString(),
            "--every",
            Integer.toString(contract.evalEvery()),
            "--output",
            folders.results().resolve("evaluations").toString()));
  }

  /** Returns the variables that name the GPUs of evaluations. */
  Map<String, String> evaluationVariables() {
    return evalGpus().isEmpty()
        ? Map.of()
        : Map.of("CUDA_VISIBLE_DEVICES", String.join(",", numbers(evalGpus())));
  }

  /** Variables of SageMaker's toolkits, for programs that the run starts. */
  Map<String, String> toolkitVariables() {
    Map<String, String> variables = new TreeMap<>();
    variables.put("SM_CURRENT_HOST", contract.host());
    variables.put(
        "SM_HOSTS", contract.hosts().stream().collect(Collectors.joining("\",\"", "[\"", "\"]")));
    variables.put("SM_NUM_GPUS", Integer.toString(found.gpus()));
    variables.put("SM_MODEL_DIR", folders.model().toString());
    variables.put("SM_OUTPUT_DATA_DIR", folders.results().toString());
    for (String channel : contract.channels()) {
      variables.put(
          "SM_CHANNEL_" + channel.toUpperCase(Locale.ROOT),
          folders.data().resolve(channel).toString());
    }
    variables.putAll(contract.variables());
    return variables;
  }
}
