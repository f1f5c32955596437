package io.troupe.config.rollout;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.engine.http.sidecar.ServerCommand;
import java.time.Duration;
import java.util.List;

/** Inference servers that the run starts beside itself. */
public record SidecarsSection(
    @Doc(
            value =
                "How many to start, with --cluster on each node; they listen on loopback only. A"
                    + " placement's workers, and `troupe node --workers`, go before it.",
            unit = "servers")
        @Default("0")
        @Range(min = 0, max = 1024)
        int count,
    @Doc(
            "Which: `troupe` is this program's own engine in a process of its own (`troupe serve`);"
                + " `vllm` and `sglang` are found on the PATH; `command` is what `command` says.")
        @Default("troupe")
        Server server,
    @Doc(
            "Program and arguments of `server: command`; `{port}` stands for the port to listen on,"
                + " `{weights}` for the directory to start with.")
        List<String> command,
    @Doc(
            "Directory of the model that a vLLM or SGLang starts with, and that `{weights}` stands"
                + " for at first; empty means policy.checkpoint.")
        @Default("")
        String model,
    @Doc("Numbers that vLLM and SGLang compute with.") @Default("bfloat16") String dtype,
    @Doc(value = "Accelerators that share one model.", unit = "accelerators")
        @Default("1")
        @Range(min = 1, max = 64)
        int tensorParallel,
    @Doc("Share of an accelerator's memory that vLLM or SGLang takes.")
        @Default("0.85")
        @Range(min = 0, minExclusive = true, max = 1)
        double memoryShare,
    @Doc("Further arguments of a vLLM or SGLang.") List<String> arguments,
    @Doc(value = "Most completions that each samples at a time.", unit = "completions")
        @Default("64")
        @Range(min = 1, max = 1_000_000)
        int concurrency,
    @Doc(value = "Heap of a `troupe` sidecar; the engine's memory comes on top.", unit = "MiB")
        @Default("512")
        @Range(min = 64, max = 1_000_000)
        int heap,
    @Doc("Time from the start of one to its first answer; then it is ended and started again.")
        @Default("600s")
        @Range(min = 1)
        Duration startTimeout,
    @Doc(
            "Whether a server that cannot take new weights while it runs, or does not use all of them,"
                + " is ended and started with each version: no group is sampled meanwhile, and the run warns where that takes"
                + " longer than a step.")
        @Default("false")
        boolean restartForWeights)
    implements Validated {
  /** Kinds of servers that can be started. */
  public enum Server {
    TROUPE,
    VLLM,
    SGLANG,
    COMMAND
  }

  public SidecarsSection {
    command = List.copyOf(command);
    arguments = List.copyOf(arguments);
  }

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("command", "server")
        .require(
            () -> (server == Server.COMMAND) == !command.isEmpty(),
            "belongs to server: command, and to it alone",
            "set both, or neither");
    rules
        .on("command")
        .require(
            () -> command.isEmpty() || hasPlaceholder(ServerCommand.PORT),
            "does not say {port}, the port to listen on",
            "add it, for instance as --port {port}");
    rules
        .on("restart_for_weights", "command")
        .require(
            () -> !restartForWeights || command.isEmpty() || hasPlaceholder(ServerCommand.WEIGHTS),
            "needs {weights} in the command, or it would start with the same weights again",
            "add it, for instance as --model {weights}");
    rules
        .on("restart_for_weights", "server")
        .require(
            () -> !restartForWeights || server != Server.TROUPE,
            "says nothing to a `troupe` server, which reads weights while it runs",
            "leave it out");
  }

  private boolean hasPlaceholder(String placeholder) {
    return command.stream().anyMatch(word -> word.contains(placeholder));
  }
}
