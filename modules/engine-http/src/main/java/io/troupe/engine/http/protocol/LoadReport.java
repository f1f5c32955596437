package io.troupe.engine.http.protocol;

import java.util.List;
import java.util.OptionalDouble;

/**
 * A server's load, from its {@code /metrics}. A number that is missing or malformed is unknown,
 * never zero.
 *
 * @param running requests being decoded
 * @param waiting requests in the server's queue
 * @param generatedTokens tokens sampled since the server started
 */
public record LoadReport(
    OptionalDouble running, OptionalDouble waiting, OptionalDouble generatedTokens) {
  private static final int MOST_CHARACTERS = 10 << 20;
  private static final List<String> RUNNING =
      List.of(
          "troupe_serve_requests_running",
          "vllm:num_requests_running",
          "sglang:num_running_reqs",
          "llamacpp:requests_processing");
  private static final List<String> WAITING =
      List.of(
          "troupe_serve_requests_waiting",
          "vllm:num_requests_waiting",
          "sglang:num_queue_reqs",
          "llamacpp:requests_deferred");

  private static final List<String> DRAWN =
      List.of(
          "troupe_serve_generation_tokens_total",
          "vllm:generation_tokens_total",
          "vllm:generation_tokens",
          "sglang:generation_tokens_total",
          "llamacpp:tokens_predicted_total");

  /** Parses the Prometheus text; the values of several engines of one server are added. */
  public static LoadReport parse(String text) {
    String bounded = text.substring(0, Math.min(text.length(), MOST_CHARACTERS));
    return new LoadReport(sum(bounded, RUNNING), sum(bounded, WAITING), sum(bounded, DRAWN));
  }

  private static OptionalDouble sum(String text, List<String> names) {
    double[] values =
        text.lines()
            .filter(line -> names.stream().anyMatch(name -> isOf(line, name)))
            .mapToDouble(LoadReport::value)
            .filter(Double::isFinite)
            .toArray();
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    return values.length == 0 ? OptionalDouble.empty() : OptionalDouble.of(sum);
  }

  private static boolean isOf(String line, String name) {
    return line.startsWith(name)
        && line.length() > name.length()
        && (line.charAt(name.length()) == '{' || line.charAt(name.length()) == ' ');
  }

  private static double value(String line) {
    int from = Math.max(line.lastIndexOf('}'), line.indexOf(' ')) + 1;
    String rest = line.substring(from).strip();
    int space = rest.indexOf(' ');
    try {
      return Double.parseDouble(space < 0 ? rest : rest.substring(0, space));
    } catch (NumberFormatException damaged) {
      return Double.NaN;
    }
  }
}
