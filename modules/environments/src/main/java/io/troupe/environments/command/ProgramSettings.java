package io.troupe.environments.command;

import static io.troupe.core.Require.require;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A program that is asked by lines of JSON.
 *
 * @param command program and arguments, at least one word
 * @param variables of its environment beside the few that every program has
 * @param count processes at a time
 * @param timeout longest wait for a reply
 * @param lineBytes longest line that it may write
 */
public record ProgramSettings(
    List<String> command,
    Map<String, String> variables,
    int count,
    Duration timeout,
    int lineBytes) {
  /** Longest line of a program, unless it is said otherwise. */
  public static final int LINE_BYTES = 1 << 20;

  private static final int EXCERPT = 80;

  public ProgramSettings {
    command = List.copyOf(command);
    variables = Map.copyOf(variables);
    require(!command.isEmpty(), "a program has a command");
    require(count >= 1, "at least one process runs at a time, not %d", count);
    require(timeout.isPositive(), "a reply may take longer than 0, not %s", timeout);
    require(lineBytes >= 64, "a line has 64 bytes at least, not %d", lineBytes);
  }

  /** Returns the beginning of the command, for a sentence. */
  public String line() {
    String words = String.join(" ", command).strip().replace('\n', ' ');
    return words.length() <= EXCERPT ? words : words.substring(0, EXCERPT) + "…";
  }
}
