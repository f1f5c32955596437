package io.troupe.app;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.train.TeacherTokens;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.TrainingEngine;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.djl.ComputeSettings;
import io.troupe.engine.djl.DecoderSettings;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.http.Endpoint;
import io.troupe.engine.http.HttpScorer;
import io.troupe.engine.http.serve.PolicyServer;
import io.troupe.engine.http.serve.ServeSettings;
import io.troupe.engine.http.serve.Served;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ScoresOverHttpTest {
  /** Golden: what is told over HTTP is what the engine says, to the last bit. */
  @Test
  void score_overHttp_isTheEnginesOwn() throws Exception {
    CharacterTokenizer tokenizer = new CharacterTokenizer("0123456789+=");
    DjlPolicy policy =
        DjlPolicy.create(
            new DecoderSettings(8, 2, 4, 2, 4, 12, 32, 10_000, 1e-6, true, .5),
            tokenizer,
            ComputeSettings.of(1, 1, 1 << 12));
    try (TrainingEngine own = policy.newTrainer(3);
        SamplingEngine sampler = policy.newSampler();
        ScoringEngine scorer = policy.newScorer();
        PolicyServer server =
            PolicyServer.start(
                new Served("policy", sampler, tokenizer, 32, Served.Chat.none(), scorer),
                ServeSettings.loopback(0),
                "test")) {
      WeightSnapshot weights = own.snapshot(WeightVersion.BASE);
      server.use(weights);
      try (HttpScorer over = HttpScorer.open(Endpoint.of("http://127.0.0.1:" + server.port(), 1))) {
        int[] whole = tokenizer.encode("12+34=46");
        assertThat(over.score(whole, 0).logProbs()).isEqualTo(scorer.score(whole, 0).logProbs());
        TeacherTokens theirs = over.score(whole, 3).likeliest();
        TeacherTokens ours = scorer.score(whole, 3).likeliest();
        assertThat(theirs.ids()).isDeepEqualTo(ours.ids());
        assertThat(theirs.logProbs()).isDeepEqualTo(ours.logProbs());
      }
    }
    policy.close();
  }
}
