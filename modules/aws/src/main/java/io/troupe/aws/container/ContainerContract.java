package io.troupe.aws.container;

import static io.troupe.core.Require.require;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import io.troupe.store.file.StoreJson;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * SageMaker's description of a job for a container: files of JSON below {@code input/config}. The
 * {@code SM_*} variables, which SageMaker's toolkits make and SageMaker itself does not, override
 * them.
 *
 * @param host name of this host
 * @param hosts names of all, in the order of their numbers; the first one coordinates
 * @param network name of the interface between them; empty if unknown
 * @param channels names of the data of the job
 * @param parameters configuration of the run
 * @param variables TROUPE_… and SM_… of the environment
 */
public record ContainerContract(
    String host,
    List<String> hosts,
    String network,
    List<String> channels,
    JobParameters parameters,
    Map<String, String> variables) {
  /** The key under which a job's run is copied to S3. */
  public static final String SYNC = "run.sync";

  public static final String TRAIN_GPUS = "TROUPE_TRAIN_GPUS";
  public static final String EVAL_GPUS = "TROUPE_EVAL_GPUS";
  public static final String EVAL_EVERY = "TROUPE_EVAL_EVERY";

  private static final String HOSTS = "SM_HOSTS";
  private static final String HOST = "SM_CURRENT_HOST";
  private static final Pattern NUMBERS = Pattern.compile("\\d+");

  public ContainerContract {
    hosts = List.copyOf(hosts);
    channels = List.copyOf(channels);
    variables = Map.copyOf(variables);
    require(
        hosts.contains(host),
        "resourceconfig.json: current_host %s must be one of hosts %s",
        host,
        hosts);
  }

  /**
   * Reads the files.
   *
   * @param resources text of resourceconfig.json
   * @param hyperparameters text of hyperparameters.json
   * @param inputs text of inputdataconfig.json; empty if there is none
   */
  public static ContainerContract parse(
      String resources, String hyperparameters, String inputs, Map<String, String> environment) {
    Map<String, Object> resource = json("resourceconfig.json", resources, new TypeReference<>() {});
    Map<String, String> parameters =
        json("hyperparameters.json", hyperparameters, new TypeReference<>() {});
    Map<String, Object> channels =
        inputs.isEmpty()
            ? Map.of()
            : json("inputdataconfig.json", inputs, new TypeReference<>() {});
    Map<String, String> variables = new TreeMap<>(environment);
    variables.keySet().removeIf(key -> !key.startsWith("SM_") && !key.startsWith("TROUPE_"));
    List<String> hosts =
        variables.containsKey(HOSTS)
            ? json(HOSTS, variables.getOrDefault(HOSTS, ""), new TypeReference<>() {})
            : words(resource.getOrDefault("hosts", List.of()));
    return new ContainerContract(
        variables.getOrDefault(HOST, String.valueOf(resource.get("current_host"))),
        hosts.stream().sorted(Comparator.comparing(ContainerContract::numbered)).toList(),
        variables.getOrDefault(
            "SM_NETWORK_INTERFACE_NAME",
            Optional.ofNullable(resource.get("network_interface_name"))
                .map(String::valueOf)
                .orElse("")),
        List.copyOf(new TreeSet<>(channels.keySet())),
        JobParameters.parse(parameters),
        variables);
  }

  private static List<String> words(Object list) {
    require(
        list instanceof List<?> && !((List<?>) list).isEmpty(),
        "resourceconfig.json must have hosts, not %s",
        list);
    return ((List<?>) list).stream().map(String::valueOf).toList();
  }

  private static <T> T json(String file, String text, TypeReference<T> type) {
    try {
      return StoreJson.LINE.readValue(text, type);
    } catch (JsonProcessingException bad) {
      throw new IllegalArgumentException(
          "%s is not what SageMaker writes: %s".formatted(file, bad.getOriginalMessage()), bad);
    }
  }

  /** A name whose numbers have leading zeros, so that algo-10 comes after algo-9. */
  private static String numbered(String name) {
    return NUMBERS
        .matcher(name)
        .replaceAll(
            number ->
                Matcher.quoteReplacement(
                    "0".repeat(12 - number.group().length()) + number.group()));
  }

  /** Whether this host coordinates. */
  boolean coordinates() {
    return host.equals(hosts.getFirst());
  }

  boolean alone() {
    return hosts.size() == 1;
  }

  String variable(String name) {
    return variables.getOrDefault(name, "");
  }

  /** Steps between two evaluations; 0 for none. */
  int evalEvery() {
    String every = variable(EVAL_EVERY);
    return every.isEmpty() ? 0 : Integer.parseInt(every);
  }
}
