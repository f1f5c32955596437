package io.troupe.launch;

import io.troupe.base.process.ExitCode;
import io.troupe.launch.remote.RemoteHost;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The output of a command about hosts: lines as it works, or at its end one JSON object with a row
 * a host.
 */
final class LaunchReport {
  private final boolean json;
  private final PrintWriter out;
  private final PrintWriter err;
  private final Map<String, Map<String, Object>> rows = new LinkedHashMap<>();
  private final Map<String, Object> answer = new LinkedHashMap<>();

  LaunchReport(boolean json, PrintWriter out, PrintWriter err) {
    this.json = json;
    this.out = out;
    this.err = err;
  }

  boolean isJson() {
    return json;
  }

  /** A line for people; not part of the object. */
  void say(String line) {
    PrintWriter to = json ? err : out;
    to.println(line);
    to.flush();
  }

  /** A line about a host. */
  void say(RemoteHost host, String text) {
    say("%-24s %s".formatted(host.login(), text));
  }

  /** A fact of a host. */
  void put(RemoteHost host, String key, Object value) {
    rows.computeIfAbsent(host.login(), _ -> new LinkedHashMap<>()).put(key, value);
  }

  /** A text of a host, as it is, or its lines in the object. */
  void show(RemoteHost host, String name, String text) {
    if (!json) {
      out.print(text);
      out.flush();
    }
    put(host, name, text.lines().toList());
  }

  /** A fact of the command. */
  void put(String key, Object value) {
    answer.put(key, value);
  }

  /** Reports a failure. */
  void fail(String message) {
    err.println("error: " + message);
    err.flush();
  }

  /** Reports a failure on a host. */
  void fail(RemoteHost host, String message) {
    fail(message);
    put(host, "error", message);
  }

  /** Prints the object, if it is asked for. */
  int end(ExitCode exit) throws IOException {
    if (json) {
      Map<String, Object> object = new LinkedHashMap<>(answer);
      object.put("hosts", rows.entrySet().stream().map(LaunchReport::row).toList());
      object.put("exit", exit.code());
      out.println(StoreJson.LINE.writeValueAsString(object));
      out.flush();
    }
    return exit.code();
  }

  private static Map<String, Object> row(Map.Entry<String, Map<String, Object>> host) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("host", host.getKey());
    row.putAll(host.getValue());
    return row;
  }
}
