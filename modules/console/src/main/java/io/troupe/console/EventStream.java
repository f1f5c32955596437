package io.troupe.console;

import io.troupe.console.http.ConsoleJson;
import io.troupe.console.source.RunSource;
import io.troupe.telemetry.view.EventText;
import io.troupe.telemetry.view.RunView;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * Server-sent events of a run: {@code feed} with the events since the last that the reader has,
 * {@code rows} with new metrics, and {@code run} with the picture of the moment. The stream's id is
 * the number of the newest event and the count of rows, so a reader that comes back with
 * Last-Event-ID misses nothing that is still kept. It works only while a reader is connected.
 */
final class EventStream {
  private static final int MAX_CAUGHT_UP = 500;
  private static final long PERIOD_MILLIS = 1_000;
  private static final int QUIET_PERIODS = 5;

  private final RunSource source;
  private final Api api;
  private long events;
  private long rows;

  EventStream(RunSource source, Api api, String lastId) {
    this.source = source;
    this.api = api;
    String[] parts = lastId.split("-", -1);
    if (parts.length == 2) {
      events = number(parts[0]);
      rows = number(parts[1]);
    }
    if (events > source.fold().sequence() || rows > source.fold().rowsSeen()) {
      // The reader's numbers are of another process: begin again.
      events = 0;
      rows = 0;
    }
  }

  private static long number(String digits) {
    try {
      return Math.max(0, Long.parseLong(digits));
    } catch (NumberFormatException notOne) {
      return 0;
    }
  }

  /** Writes until the reader goes away or the server stops. */
  void write(OutputStream out) throws IOException, InterruptedException {
    int quiet = 0;
    out.write("retry: 2000\n\n".getBytes(StandardCharsets.UTF_8));
    while (!Thread.currentThread().isInterrupted()) {
      boolean news = source.fold().sequence() > events || source.fold().rowsSeen() > rows;
      if (news || quiet == 0 || quiet >= QUIET_PERIODS) {
        quiet = 0;
        send(out);
      }
      quiet++;
      Thread.sleep(PERIOD_MILLIS);
    }
  }

  private void send(OutputStream out) throws IOException {
    long newest = source.fold().sequence();
    long newestRow = source.fold().rowsSeen();
    List<EventText> feed = source.fold().events(events, 1, MAX_CAUGHT_UP);
    List<Map<String, Object>> measured = source.fold().rows(rows);
    events = newest;
    rows = newestRow;
    if (!feed.isEmpty()) {
      event(out, "feed", feed);
    }
    if (!measured.isEmpty()) {
      event(out, "rows", measured);
    }
    RunView run = api.run();
    event(out, "run", run);
    out.flush();
  }

  private void event(OutputStream out, String name, Object data) throws IOException {
    String head = "event: %s\nid: %d-%d\ndata: ".formatted(name, events, rows);
    out.write(head.getBytes(StandardCharsets.UTF_8));
    out.write(ConsoleJson.bytes(data));
    out.write("\n\n".getBytes(StandardCharsets.UTF_8));
  }
}
