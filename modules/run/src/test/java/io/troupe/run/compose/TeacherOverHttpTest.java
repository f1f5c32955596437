package io.troupe.run.compose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.score.HttpScorer;
import io.troupe.engine.http.score.HttpTeacher;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.serve.PolicyServer;
import io.troupe.serve.ServeSettings;
import io.troupe.serve.model.ServedModel;
import io.troupe.testkit.UnusedPorts;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class TeacherOverHttpTest {
  private static final int CONTEXT = 32;
  private static final CharacterTokenizer TOKENIZER = new CharacterTokenizer("0123456789+=");
  private static final DjlPolicy POLICY =
      DjlPolicy.create(
          new DecoderSettings(8, 2, 4, 2, 4, 12, CONTEXT, 10_000, 1e-6, true, .5),
          TOKENIZER,
          ComputeSettings.of(1, 1, 1 << 12));
  private static final TrainingEngine OWN = POLICY.newTrainer(3);
  private static final SamplingEngine SAMPLER = POLICY.newSampler();
  private static final ScoringEngine SCORER = POLICY.newScorer();

  @BeforeAll
  static void freeze() {
    OWN.freezeReference();
  }

  @AfterAll
  static void close() {
    SCORER.close();
    SAMPLER.close();
    OWN.close();
    POLICY.close();
  }

  private static PolicyServer serve(int port, WeightSnapshot weights) throws IOException {
    PolicyServer server =
        PolicyServer.start(
            ServedModel.completing("policy", SAMPLER, TOKENIZER, CONTEXT, SCORER),
            ServeSettings.loopback(port),
            "test");
    server.use(weights);
    return server;
  }

  private static InferenceEndpoint at(PolicyServer server) {
    return InferenceEndpoint.of("http://127.0.0.1:" + server.port(), 1);
  }

  /** Golden: what is told over HTTP is what the engine says, to the last bit. */
  @Test
  void score_overHttp_isTheEnginesOwn() throws Exception {
    try (PolicyServer server = serve(0, OWN.snapshot(WeightVersion.BASE));
        HttpScorer over = HttpScorer.open(at(server), TOKENIZER, CONTEXT, 3)) {
      int[] whole = TOKENIZER.encode("12+34=46" + "1".repeat(CONTEXT - 8));
      assertThat(over.score(whole, 0).logProbs()).isEqualTo(SCORER.score(whole, 0).logProbs());
      TeacherTokens theirs = over.score(whole, 3).likeliest();
      TeacherTokens ours = SCORER.score(whole, 3).likeliest();
      assertThat(theirs.ids()).isDeepEqualTo(ours.ids());
      assertThat(theirs.logProbs()).isDeepEqualTo(ours.logProbs());
    }
  }

  /** Golden: who serves the trainer's own weights must teach what the trainer's reference does. */
  @Test
  void teacherTokens_teacherServesTheReference_areTheReferencesOwn() throws Exception {
    try (PolicyServer server = serve(0, OWN.snapshot(WeightVersion.BASE));
        HttpTeacher teacher =
            HttpTeacher.open(
                List.of(at(server), at(server)), TOKENIZER, CONTEXT, 3, Duration.ofSeconds(30))) {
      DistillationTrainer taught = new DistillationTrainer(OWN, teacher, 2);
      List<TrainingSequence> batch =
          List.of(
              TestSequences.of(TOKENIZER, "1+2=", "3"), TestSequences.of(TOKENIZER, "4+5=", "09"));
      List<TeacherTokens> theirs = taught.teacherTokens(batch, 3, 1);
      List<TeacherTokens> ours = OWN.teacherTokens(batch, 3, 1);
      assertThat(taught.hasTeacher()).isTrue();
      for (int i = 0; i < batch.size(); i++) {
        assertThat(theirs.get(i).ids()).isDeepEqualTo(ours.get(i).ids());
        for (int t = 0; t < ours.get(i).ids().length; t++) {
          assertThat(theirs.get(i).logProbs()[t])
              .containsExactly(ours.get(i).logProbs()[t], within(1e-5f));
        }
      }
    }
  }

  @Test
  void score_serverAwayAndBack_waitsForIt_andKnowsAnotherModel() throws Exception {
    int[] tokens = TOKENIZER.encode("1+2=3");
    int port = UnusedPorts.next();
    HttpTeacher teacher;
    double[] before;
    try (PolicyServer server = serve(port, OWN.snapshot(WeightVersion.BASE))) {
      teacher = HttpTeacher.open(List.of(at(server)), TOKENIZER, CONTEXT, 3, Duration.ofMillis(1));
      before = teacher.score(tokens, 0).logProbs();
    }
    try (teacher) {
      assertThatThrownBy(() -> teacher.score(tokens, 0))
          .isInstanceOf(InferenceCallException.class)
          .hasMessageContaining("127.0.0.1:" + port);
      try (PolicyServer _ = serve(port, OWN.snapshot(WeightVersion.BASE))) {
        assertThat(teacher.score(tokens, 0).logProbs()).isEqualTo(before);
      }
      assertThatThrownBy(() -> teacher.score(tokens, 0)).isInstanceOf(InferenceCallException.class);
      try (TrainingEngine other = POLICY.newTrainer(4);
          PolicyServer _ = serve(port, other.snapshot(WeightVersion.BASE))) {
        assertThatThrownBy(() -> teacher.score(tokens, 0))
            .hasMessageContaining("came back as another model");
      }
    }
  }

  /** A teacher is tried with as many of the most likely tokens as the run will ask for. */
  @Test
  void open_moreLikelyTokensThanTheServerTells_isRefusedAtTheStart() throws Exception {
    try (PolicyServer server = serve(0, OWN.snapshot(WeightVersion.BASE))) {
      assertThatThrownBy(() -> HttpScorer.open(at(server), TOKENIZER, CONTEXT, 1001))
          .isInstanceOf(InferenceCallException.class)
          .hasMessageContaining(
              "it does not report the 1001 most likely tokens of each place (distillation.top_k):"
                  + " prompt_logprobs lies in [0, 1000], and is 1001")
          .hasMessageContaining("or lower distillation.top_k");
    }
  }

  @Test
  void open_otherTokens_isRefusedWithTheFirstThatDiffers() throws Exception {
    try (PolicyServer server = serve(0, OWN.snapshot(WeightVersion.BASE))) {
      assertThatThrownBy(
              () -> HttpScorer.open(at(server), new CharacterTokenizer("=+0123456789"), CONTEXT, 3))
          .hasMessageContaining("its tokens are not the policy's");
      assertThatThrownBy(() -> HttpScorer.open(at(server), TOKENIZER, 2 * CONTEXT, 3))
          .hasMessageContaining("it reads 32 tokens, and the policy's sequences have up to 64");
    }
  }
}
