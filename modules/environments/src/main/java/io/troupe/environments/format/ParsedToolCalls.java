package io.troupe.environments.format;

import io.troupe.environments.ToolCall;
import java.util.List;

/**
 * An answer of a policy, read for calls.
 *
 * @param text text without the calls
 * @param calls in the order in which they were sampled, those that cannot be read among them
 */
public record ParsedToolCalls(String text, List<ToolCall> calls) {
  public ParsedToolCalls {
    calls = List.copyOf(calls);
  }
}
