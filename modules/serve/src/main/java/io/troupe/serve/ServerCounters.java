package io.troupe.serve;

import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The counters of a server, for {@code /metrics}.
 *
 * @param running requests in progress
 * @param served requests answered in full
 * @param refused requests that were invalid
 * @param rejected requests that were asked to retry later
 * @param failed requests that failed in the engine
 * @param disconnected requests whose client disconnected
 * @param promptTokens tokens of prompts
 * @param generatedTokens tokens sampled and sent
 * @param updates loads of weights
 */
record ServerCounters(
    AtomicLong running,
    AtomicLong served,
    AtomicLong refused,
    AtomicLong rejected,
    AtomicLong failed,
    AtomicLong disconnected,
    AtomicLong promptTokens,
    AtomicLong generatedTokens,
    AtomicLong updates) {
  /** Returns counters at zero. */
  static ServerCounters zero() {
    return new ServerCounters(
        new AtomicLong(),
        new AtomicLong(),
        new AtomicLong(),
        new AtomicLong(),
        new AtomicLong(),
        new AtomicLong(),
        new AtomicLong(),
        new AtomicLong(),
        new AtomicLong());
  }

  /** The counters as Prometheus text. */
  String text(int waiting, boolean paused, long version, double seconds) {
    StringBuilder text = new StringBuilder();
    gauge(text, "requests_running", "Requests being sampled.", running.get() - waiting);
    gauge(text, "requests_waiting", "Requests held while the server is paused.", waiting);
    gauge(text, "paused", "1 while sampling is paused.", paused ? 1 : 0);
    gauge(text, "weight_version", "Version of the weights in use; -1 before the first.", version);
    counter(text, "requests_total", "Requests answered in full.", served.get());
    counter(text, "requests_refused_total", "Requests that were wrong.", refused.get());
    counter(text, "requests_rejected_total", "Requests asked to retry later.", rejected.get());
    counter(text, "requests_failed_total", "Requests that the engine failed.", failed.get());
    counter(text, "disconnects_total", "Requests whose client went away.", disconnected.get());
    counter(text, "prompt_tokens_total", "Tokens of prompts.", promptTokens.get());
    counter(text, "generation_tokens_total", "Tokens sampled and sent.", generatedTokens.get());
    counter(text, "weight_updates_total", "Times that weights were loaded.", updates.get());
    text.append("# HELP troupe_serve_uptime_seconds Since the start.\n")
        .append("# TYPE troupe_serve_uptime_seconds gauge\n")
        .append(String.format(Locale.ROOT, "troupe_serve_uptime_seconds %.3f%n", seconds));
    return text.toString();
  }

  private static void gauge(StringBuilder text, String name, String help, long value) {
    line(text, name, help, "gauge", value);
  }

  private static void counter(StringBuilder text, String name, String help, long value) {
    line(text, name, help, "counter", value);
  }

  private static void line(StringBuilder text, String name, String help, String type, long value) {
    String full = "troupe_serve_" + name;
    text.append("# HELP ").append(full).append(' ').append(help).append('\n');
    text.append("# TYPE ").append(full).append(' ').append(type).append('\n');
    text.append(full).append(' ').append(value).append('\n');
  }
}
