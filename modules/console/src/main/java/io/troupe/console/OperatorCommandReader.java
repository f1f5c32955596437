package io.troupe.console;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.console.http.ApiException;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.OperatorCommand;
import java.util.List;
import java.util.Locale;

/**
 * Orders as they come over the wire: {@code {"verb": "requeue", "group": 7, "by": …, "why": …}}.
 */
final class OperatorCommandReader {
  static final List<String> NAMES =
      List.of(
          "pause",
          "resume",
          "requeue",
          "cancel",
          "checkpoint",
          "drain",
          "limit",
          "restart",
          "quarantine",
          "release",
          "log");

  private static final List<String> LEVELS =
      List.of("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF");

  private OperatorCommandReader() {}

  static OperatorCommand verb(JsonNode body) throws ApiException {
    String name = text(body, "verb");
    try {
      return switch (name) {
        case "pause" -> new OperatorCommand.PauseAdmission();
        case "resume" -> new OperatorCommand.ResumeAdmission();
        case "requeue" -> new OperatorCommand.RequeueGroup(group(body));
        case "cancel" -> new OperatorCommand.CancelGroup(group(body));
        case "checkpoint" -> new OperatorCommand.SaveCheckpoint();
        case "drain" -> drain(body);
        case "limit" -> new OperatorCommand.LimitConcurrency(body.path("groups").asInt());
        case "restart" -> new OperatorCommand.RestartWorker(new WorkerId(text(body, "worker")));
        case "quarantine" -> new OperatorCommand.QuarantineVerifier(text(body, "verifier"));
        case "release" -> new OperatorCommand.ReleaseVerifier(text(body, "verifier"));
        case "log" -> new OperatorCommand.SetLogLevel(text(body, "logger"), level(body));
        case "max_staleness" ->
            throw new ApiException(
                400,
                "max_staleness is what the run is an experiment on, so it does not change under it;"
                    + " what makes rollouts younger is more workers, smaller groups or fewer of"
                    + " them at a time (limit)");
        default ->
            throw new ApiException(
                400,
                "there is no verb '%s'; there are %s".formatted(name, String.join(", ", NAMES)));
      };
    } catch (IllegalArgumentException bad) {
      throw new ApiException(400, String.valueOf(bad.getMessage()));
    }
  }

  static Attribution order(JsonNode body, AccessTokens.Role role) throws ApiException {
    String by = text(body, "by");
    try {
      return new Attribution(
          by.isBlank() ? role.name().toLowerCase(Locale.ROOT) : by, text(body, "why"));
    } catch (IllegalArgumentException bad) {
      throw new ApiException(400, String.valueOf(bad.getMessage()));
    }
  }

  /** The run, unless a node or a worker is named. */
  private static OperatorCommand drain(JsonNode body) {
    if (body.has("node")) {
      return new OperatorCommand.DrainNode(text(body, "node"));
    }
    return body.has("worker")
        ? new OperatorCommand.DrainWorker(new WorkerId(text(body, "worker")))
        : new OperatorCommand.Drain();
  }

  private static GroupId group(JsonNode body) {
    return new GroupId(body.path("group").asLong());
  }

  private static String level(JsonNode body) throws ApiException {
    String level = text(body, "level").toUpperCase(Locale.ROOT);
    if (!LEVELS.contains(level)) {
      throw new ApiException(400, "a log level is one of " + String.join(", ", LEVELS));
    }
    return level;
  }

  private static String text(JsonNode body, String name) {
    return body.path(name).asText("");
  }
}
