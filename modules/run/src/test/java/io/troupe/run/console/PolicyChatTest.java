package io.troupe.run.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.chat.ChatTemplate;
import io.troupe.console.chat.Chat;
import io.troupe.console.chat.ChatRequest;
import io.troupe.core.completion.Completion;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.runtime.AdHocSampling;
import io.troupe.runtime.EngineRegistry;
import io.troupe.runtime.weights.InMemoryWeights;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** A toy policy, asked in texts. */
class PolicyChatTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int CONTEXT = 8;
  private static final long SEED = 7;

  private final ToyPolicy policy = new ToyPolicy(ToySettings.of("+0123456789=", CONTEXT));
  @AutoClose private final EngineRegistry room = new EngineRegistry(policy);
  private final InMemoryWeights weights = new InMemoryWeights();

  private void publish(long version) {
    weights
        .publish(policy.newTrainer(1).snapshot(new WeightVersion(version)))
        .toCompletableFuture()
        .join();
  }

  private PolicyChat chat(Optional<ChatTemplate> template) {
    return new PolicyChat(
        new AdHocSampling(room, weights::newest, _ -> {}),
        policy.tokenizer(),
        CONTEXT,
        template,
        new SamplingSettings(1, 3),
        List.of(new Prompt(new PromptId("p1"), "toy", "1+1=", "2", "2")),
        () -> SEED);
  }

  /** Samples with the newest weights and the seed of the questions. */
  private Completion draw(String prompt, SamplingSettings settings) {
    try (SamplingEngine sampler = policy.newSampler()) {
      sampler.load(weights.newest().orElseThrow()).toCompletableFuture().join();
      SampleRequest request =
          new SampleRequest(
              new LeaseId(new GroupId(9), 9), policy.tokenizer().encode(prompt), 1, settings, SEED);
      return sampler.sample(List.of(request)).getFirst().toCompletableFuture().join().getFirst();
    }
  }

  private static List<Chat.Piece> whole(Chat.Begin begin) throws InterruptedException {
    assertThat(begin).isInstanceOf(Chat.Begun.class);
    List<Chat.Piece> all = new ArrayList<>();
    try (Chat.Sampling draw = ((Chat.Begun) begin).draw()) {
      while (all.isEmpty() || all.getLast() instanceof Chat.Said) {
        all.addAll(draw.next(PATIENCE));
      }
    }
    return all;
  }

  @Test
  void offer_tellsTheRunsSettingsAndAnExample() {
    assertThat(chat(Optional.empty()).offer())
        .isEqualTo(new Chat.Open(CONTEXT, false, 1, 3, CONTEXT - 1, "1+1="));
  }

  @Test
  void begin_question_isAnsweredAsASamplerDraws() throws Exception {
    publish(5);
    Completion drawn = draw("1+1=", new SamplingSettings(1, 3));
    List<Chat.Piece> pieces =
        whole(chat(Optional.empty()).begin(new ChatRequest("1+1=", false, 1, 3)));
    StringBuilder text = new StringBuilder();
    for (Chat.Piece piece : pieces) {
      if (piece instanceof Chat.Said(String more, long version)) {
        text.append(more);
        assertThat(version).isEqualTo(5);
      }
    }
    Chat.Ended ended = (Chat.Ended) pieces.getLast();
    assertThat(ended.version()).isEqualTo(5);
    assertThat(ended.promptTokens()).isEqualTo(4);
    assertThat(ended.tokens()).isEqualTo(drawn.length());
    assertThat(text).hasToString(policy.tokenizer().decode(drawn.tokens()));
  }

  @Test
  void begin_moreTokensThanTheContextHas_endsWithTheContext() throws Exception {
    publish(0);
    PolicyChat chat = chat(Optional.empty());
    List<Chat.Piece> pieces = whole(chat.begin(new ChatRequest("1+1=1+1", false, 1, 7)));
    assertThat(((Chat.Ended) pieces.getLast()).tokens()).isEqualTo(1);
  }

  @Test
  void begin_asAMessage_goesThroughTheTemplate() throws Exception {
    publish(0);
    ChatTemplate template =
        (messages, generation, _) -> "1+" + messages.getFirst().content() + (generation ? "=" : "");
    List<Chat.Piece> pieces =
        whole(chat(Optional.of(template)).begin(new ChatRequest("34", true, 0, 1)));
    assertThat(((Chat.Ended) pieces.getLast()).promptTokens()).isEqualTo(5);
  }

  @Test
  void begin_unfitQuestion_isRefusedInASentence() {
    publish(0);
    PolicyChat chat = chat(Optional.empty());
    assertThat(chat.begin(new ChatRequest("why?", false, 1, 3)))
        .isInstanceOfSatisfying(
            Chat.Refused.class,
            refused -> {
              assertThat(refused.why()).isEqualTo(Chat.Why.UNFIT);
              assertThat(refused.sentence())
                  .startsWith(
                      "this policy has the characters of its task alone, which are +0123456789=:"
                          + " character 'w' (U+0077) at position 0");
            });
    assertThat(chat.begin(new ChatRequest("1+1=1+1=", false, 1, 3)))
        .isEqualTo(
            new Chat.Refused(
                Chat.Why.UNFIT,
                "the prompt has 8 tokens, and the context holds 8 with the answer; shorten it by at"
                    + " least 1"));
  }

  @Test
  void begin_beforeTheFirstWeightsAndAfterTheRun_isRefused() {
    PolicyChat chat = chat(Optional.empty());
    ChatRequest ask = new ChatRequest("1+1=", false, 1, 3);
    assertThat(chat.begin(ask))
        .isEqualTo(
            new Chat.Refused(
                Chat.Why.NOT_NOW,
                "the run has published no weights yet; ask again when it samples"));
    publish(0);
    room.close();
    assertThat(chat.begin(ask))
        .isEqualTo(
            new Chat.Refused(
                Chat.Why.NOT_NOW, "the run is ending: the engines of this process are closed"));
  }
}
