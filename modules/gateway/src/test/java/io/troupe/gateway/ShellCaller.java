package io.troupe.gateway;

import io.troupe.core.completion.Completion;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.TokenListener;
import io.troupe.gateway.dialog.ChatmlFixture;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A policy that calls the agent's tool for commands once, and then ends. */
record ShellCaller(String tool) implements GatewaySession.Policy {
  @Override
  public CompletionStage<Completion> sample(
      int[] request, SamplingSettings settings, int turn, TokenListener listener) {
    String call =
        """
        <tool_call>
        {"name": "%s", "arguments": {"%s": "echo hello", "description": "d"}}
        </tool_call>\
        """
            .formatted(tool, tool.equals("exec_command") ? "cmd" : "command");
    return CompletableFuture.completedStage(
        ChatmlFixture.completion(turn == 0 ? call : "All done.", true));
  }

  @Override
  public void cancel() {}
}
