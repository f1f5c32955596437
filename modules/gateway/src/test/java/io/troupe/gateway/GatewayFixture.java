package io.troupe.gateway;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.gateway.dialog.PlainConversation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * The fixtures of the gateway's tests: a policy over characters, and an engine that follows a
 * script.
 */
public final class GatewayFixture {
  /** Characters of all tests. */
  public static final CharacterTokenizer TOKENIZER =
      new CharacterTokenizer("[]abcdefghilnoprstuw 0123456789*=;+");

  public static final LeaseId LEASE = new LeaseId(new GroupId(3), 9);

  private GatewayFixture() {}

  /** A completion of a text, which a bracket ends as a stop text does. */
  public static Completion completion(String text) {
    int[] tokens = TOKENIZER.encode(text);
    return new Completion(
        tokens,
        new float[tokens.length],
        TokenVersions.uniform(WeightVersion.BASE, tokens.length),
        text.endsWith("]") ? FinishReason.STOP_STRING : FinishReason.STOP);
  }

  /** The rules of sessions without a chat template. */
  public static GatewaySession.Rules rules(int context, int turns) {
    return new GatewaySession.Rules(
        new TurnCodec(new PlainConversation(TOKENIZER), TOKENIZER, context), turns, 100);
  }

  /** An engine that answers a context by a function of its text, and keeps what it was asked. */
  public static class ScriptedEngine implements SamplingEngine {
    private final Function<String, CompletionStage<Completion>> answers;
    private final List<String> asked = new ArrayList<>();

    public ScriptedEngine(Function<String, CompletionStage<Completion>> answers) {
      this.answers = answers;
    }

    /** Returns an engine that answers at once. */
    public static ScriptedEngine of(Function<String, String> answers) {
      return new ScriptedEngine(
          context -> CompletableFuture.completedStage(completion(answers.apply(context))));
    }

    public synchronized List<String> asked() {
      return List.copyOf(asked);
    }

    @Override
    public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
      List<CompletionStage<List<Completion>>> stages = new ArrayList<>();
      for (SampleRequest request : requests) {
        String context = TOKENIZER.decode(request.prompt());
        synchronized (this) {
          asked.add(context);
        }
        stages.add(answers.apply(context).thenApply(List::of));
      }
      return stages;
    }

    @Override
    public CompletionStage<WeightVersion> load(WeightSnapshot weights) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void cancel(LeaseId lease) {
      // Nothing is ever open.
    }

    @Override
    public void close() {
      // Nothing is held.
    }
  }
}
