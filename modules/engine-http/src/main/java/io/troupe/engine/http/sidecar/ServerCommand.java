package io.troupe.engine.http.sidecar;

import static io.troupe.core.Require.require;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The command that starts a server process.
 *
 * @param words program and arguments
 * @param environment variables added to this process's own
 * @param keyVariable the environment variable for the key that requests must carry; empty if the
 *     server has none. A key is never an argument, because every user of a machine can read command
 *     lines.
 */
public record ServerCommand(
    List<String> words, Map<String, String> environment, String keyVariable) {
  /** The variable from which {@code troupe serve} takes its key. */
  public static final String TROUPE_KEY = "TROUPE_SERVE_KEY";

  private static final String VLLM_KEY = "VLLM_API_KEY";

  /**
   * The variable for the folder of vLLM's sockets. A vLLM that is killed leaves them, and Unix
   * bounds their path to about 100 characters.
   */
  static final String SOCKETS = "VLLM_RPC_BASE_PATH";

  /** The name of the policy on a started server. */
  public static final String MODEL = "policy";

  /** The placeholder for the port to listen on. */
  public static final String PORT = "{port}";

  /** The placeholder for the directory of the initial weights. */
  public static final String WEIGHTS = "{weights}";

  public ServerCommand {
    words = List.copyOf(words);
    environment = Map.copyOf(environment);
    require(!words.isEmpty(), "a command has at least one word");
  }

  /** A server that takes no key. */
  public ServerCommand(List<String> words, Map<String, String> environment) {
    this(words, environment, "");
  }

  /** This command with a key, if the server takes one. */
  ServerCommand withKey(String key) {
    return keyVariable.isEmpty() ? this : with(keyVariable, key);
  }

  /** Returns this command with one more variable. */
  public ServerCommand with(String variable, String value) {
    Map<String, String> with = new LinkedHashMap<>(environment);
    with.put(variable, value);
    return new ServerCommand(words, with, keyVariable);
  }

  /**
   * The model and the features that a server must load.
   *
   * @param model directory
   * @param dtype such as {@code bfloat16}
   * @param tensorParallel accelerators that share the model
   * @param memoryShare share of each accelerator's memory
   * @param contextLength most tokens of prompt and completion together
   * @param adapters adapters that it loads while it runs
   */
  public record Load(
      String model,
      String dtype,
      int tensorParallel,
      double memoryShare,
      int contextLength,
      Adapters adapters) {
    public Load {
      require(!model.isBlank(), "a server needs the directory of a model");
      require(tensorParallel >= 1, "a model is on one accelerator or more, not %d", tensorParallel);
      require(
          memoryShare > 0 && memoryShare <= 1,
          "a share of memory lies in (0, 1], not %s",
          memoryShare);
    }
  }

  /**
   * The adapters for which a server must have room.
   *
   * @param rank rank of each adapter; 0 for no adapters
   * @param atOnce number of adapters that requests may name at a time
   * @param targets names of the adapted matrices
   * @param folder the folder of the adapters; empty for no adapters
   */
  public record Adapters(int rank, int atOnce, List<String> targets, String folder) {
    /** No adapters. */
    public static final Adapters NONE = new Adapters(0, 0, List.of(), "");

    /** The ranks that vLLM can reserve. */
    private static final List<Integer> ROOMS = List.of(8, 16, 32, 64, 128, 256, 320, 512);

    /** The highest rank that vLLM accepts. */
    public static final int HIGHEST_RANK = ROOMS.getLast();

    public Adapters {
      targets = List.copyOf(targets);
    }

    boolean none() {
      return rank == 0;
    }

    private int room() {
      return ROOMS.stream().filter(room -> room >= rank).findFirst().orElse(rank);
    }

    private List<String> forVllm() {
      return none()
          ? List.of()
          : List.of(
              "--enable-lora",
              "--max-lora-rank",
              Integer.toString(room()),
              "--max-loras",
              Integer.toString(atOnce),
              "--max-cpu-loras",
              Integer.toString(2 * atOnce));
    }

    private List<String> forSglang() {
      if (none()) {
        return List.of();
      }
      List<String> words =
          new ArrayList<>(
              List.of(
                  "--enable-lora",
                  "--max-lora-rank",
                  Integer.toString(rank),
                  "--max-loras-per-batch",
                  Integer.toString(atOnce),
                  "--lora-target-modules"));
      words.addAll(targets);
      return words;
    }
  }

  /** vLLM on loopback, with the routes that update weights. */
  public static ServerCommand vllm(Load load, int port, List<String> more) {
    List<String> words = new ArrayList<>(List.of("vllm", "serve"));
    words.addAll(served(load, port));
    words.addAll(
        List.of(
            "--tensor-parallel-size",
            Integer.toString(load.tensorParallel()),
            "--gpu-memory-utilization",
            Double.toString(load.memoryShare()),
            "--max-model-len",
            Integer.toString(load.contextLength()),
            "--seed",
            "0",
            "--generation-config",
            "vllm",
            "--logprobs-mode",
            "processed_logprobs",
            "--api-server-count",
            "1"));
    words.addAll(load.adapters().forVllm());
    words.addAll(more);
    Map<String, String> environment = new LinkedHashMap<>();
    environment.put("VLLM_SERVER_DEV_MODE", "1");
    environment.put("VLLM_WORKER_MULTIPROC_METHOD", "spawn");
    environment.put("VLLM_NO_USAGE_STATS", "1");
    environment.put("VLLM_MAX_STOP_STRINGS", "64");
    environment.put("PYTHONUNBUFFERED", "1");
    if (!load.adapters().none()) {
      environment.put("VLLM_ALLOW_RUNTIME_LORA_UPDATING", "True");
      environment.put("VLLM_RUNTIME_LORA_ALLOWED_PATH_PREFIXES", load.adapters().folder());
    }
    return new ServerCommand(words, environment, VLLM_KEY);
  }

  /** SGLang on loopback. */
  public static ServerCommand sglang(Load load, int port, List<String> more) {
    List<String> words =
        new ArrayList<>(List.of("python3", "-m", "sglang.launch_server", "--model-path"));
    words.addAll(served(load, port));
    words.addAll(
        List.of(
            "--tp",
            Integer.toString(load.tensorParallel()),
            "--mem-fraction-static",
            Double.toString(load.memoryShare()),
            "--context-length",
            Integer.toString(load.contextLength()),
            "--enable-metrics"));
    words.addAll(load.adapters().forSglang());
    words.addAll(more);
    return new ServerCommand(words, Map.of("PYTHONUNBUFFERED", "1"));
  }

  /** The model, its name, the address on loopback, and the type of its weights. */
  private static List<String> served(Load load, int port) {
    return List.of(
        load.model(),
        "--served-model-name",
        MODEL,
        "--host",
        "127.0.0.1",
        "--port",
        Integer.toString(port),
        "--dtype",
        load.dtype());
  }

  /**
   * A custom command, with the port in place of {@code {port}} and a directory in place of {@code
   * {weights}}.
   */
  public static ServerCommand custom(List<String> words, int port, String weights) {
    return new ServerCommand(
        words.stream()
            .map(word -> word.replace(PORT, Integer.toString(port)).replace(WEIGHTS, weights))
            .toList(),
        Map.of());
  }
}
