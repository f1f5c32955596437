package io.troupe.gym.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.gym.loop.GymEvent;
import io.troupe.gym.loop.GymLoop;
import io.troupe.gym.loop.GymPlan;
import io.troupe.gym.loop.GymState;
import io.troupe.gym.loop.Spend;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalledModelTest {
  private static final GymPlan PLAN =
      new GymPlan(List.of(new GymPlan.Planned("a", 1)), 1, GymPlan.Gate.NONE);
  private static final ModelBudget NO_LIMIT = new ModelBudget(0, 0, 0);

  @TempDir private Path cache;
  private GymState state = GymState.of(PLAN);

  /** Answers from a list; what it was asked is kept. */
  private static final class Listed implements LanguageModel {
    private final Deque<String> answers = new ArrayDeque<>();
    private final List<String> asked = new ArrayList<>();

    Listed(String... texts) {
      answers.addAll(List.of(texts));
    }

    @Override
    public ModelReply ask(ModelRequest request) {
      asked.add(request.user());
      return new ModelReply(answers.removeFirst(), new Spend(1, 10, 5, 100));
    }

    @Override
    public Spend most(long inputTokens) {
      return new Spend(1, inputTokens, 50, 1000);
    }

    @Override
    public String identity() {
      return "listed";
    }
  }

  private JournalledModel model(LanguageModel inner, ModelBudget budget, boolean cached) {
    return new JournalledModel(
        inner,
        budget,
        cached ? Optional.of(cache) : Optional.empty(),
        () -> state,
        events -> {
          for (GymEvent event : events) {
            state = GymLoop.evolve(state, event);
          }
        });
  }

  private static ModelRequest request(String user, String occasion) {
    return new ModelRequest("s", user, occasion);
  }

  @Test
  void ask_theSameQuestionAgain_isNotPaidAgain() throws IOException {
    Listed inner = new Listed("one", "two");
    JournalledModel model = model(inner, NO_LIMIT, false);

    assertThat(model.ask(request("q", "1")).text()).isEqualTo("one");
    assertThat(model.ask(request("q", "1")).text()).isEqualTo("one");
    assertThat(model.ask(request("q", "2")).text()).isEqualTo("two");
    assertThat(inner.asked).hasSize(2);
    assertThat(state.spend()).isEqualTo(new Spend(2, 20, 10, 200));
  }

  @Test
  void ask_inAnotherGymWithTheSameCache_isFreeAndTheSame() throws IOException {
    assertThat(model(new Listed("one"), NO_LIMIT, true).ask(request("q", "1")).text())
        .isEqualTo("one");
    state = GymState.of(PLAN);
    Listed never = new Listed();

    assertThat(model(never, NO_LIMIT, true).ask(request("q", "1")).text()).isEqualTo("one");
    assertThat(never.asked).isEmpty();
    assertThat(state.spend()).isEqualTo(Spend.NONE);
    assertThat(state.answers()).hasSize(1);
  }

  @Test
  void ask_aCallThatCouldExceedABudget_isNotMade() throws IOException {
    Listed inner = new Listed("one", "two", "three");
    assertThat(model(inner, new ModelBudget(1, 0, 0), false).ask(request("q", "1")).text())
        .isEqualTo("one");

    assertThatThrownBy(() -> model(inner, new ModelBudget(1, 0, 0), false).ask(request("q", "2")))
        .isInstanceOf(JournalledModel.BudgetException.class)
        .hasMessageContaining("model.most_calls is 1");
    assertThatThrownBy(() -> model(inner, new ModelBudget(0, 60, 0), false).ask(request("q", "2")))
        .hasMessageContaining("model.most_tokens is 60, and 15 are spent");
    assertThatThrownBy(
            () -> model(inner, new ModelBudget(0, 0, 0.001), false).ask(request("q", "2")))
        .hasMessageContaining("model.most_dollars is 0.001, and 0.0001 are spent");
    assertThat(inner.asked).hasSize(1);
  }

  @Test
  void json_anAnswerThatDoesNotFit_isRepairedOnce() throws IOException {
    JsonNode schema =
        new ObjectMapper()
            .readTree(
                "{\"type\":\"object\",\"required\":[\"n\"],\"properties\":{\"n\":{\"type\":\"integer\"}}}");
    Listed inner = new Listed("Sure: {\"n\":\"x\"}", "```json\n{\"n\":3}\n```", "no", "still no");
    JsonAnswers answers = new JsonAnswers(model(inner, NO_LIMIT, false));

    assertThat(answers.ask(request("q", "1"), schema).orElseThrow().path("n").asInt()).isEqualTo(3);
    assertThat(inner.asked.get(1)).contains("the answer.n must be of type integer");
    assertThat(answers.ask(request("q", "2"), schema)).isEmpty();
    assertThat(inner.asked).hasSize(4);
  }
}
