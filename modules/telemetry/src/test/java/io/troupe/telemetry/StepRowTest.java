package io.troupe.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.telemetry.export.PrometheusText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class StepRowTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path DOCS = Path.of("..", "..", "docs", "metrics.md");

  @Test
  void json_evaluatedRow_hasEveryKeyInOrder() throws IOException {
    assertThat(JSON.writeValueAsString(Rows.evaluated()))
        .isEqualTo(
            "{\"step\":60,\"seconds\":1973.4,\"eval\":0.441,\"reward\":0.455,\"staleness_max\":2,"
                + "\"staleness_mean\":1.02,\"degenerate_share\":0.18,\"lost_share\":0.004,"
                + "\"length\":248.0,\"kl\":0.0019,\"gradient_norm\":0.64,\"waited_for\":\"trainer\","
                + "\"tokens_per_second\":11900.0,\"loss\":0.01,\"learning_rate\":3.0E-4,"
                + "\"entropy\":1.5,\"clipped_low\":0.001,\"clipped_high\":0.002,"
                + "\"behaviour_gap\":0.03,\"behaviour_gap_mean\":0.004,\"behaviour_gap_p99\":0.02,"
                + "\"ratio_p50\":1.0,\"ratio_p90\":1.01,\"ratio_p99\":1.02,\"ratio_max\":1.03,"
                + "\"effective_share\":0.99,\"truncated_share\":4.0E-4,"
                + "\"correction_masked_share\":0.0,\"reference_kl\":0.0,\"distillation\":0.0,"
                + "\"supervised_loss\":0.0,\"trained_tokens\":4096,\"masked_tokens\":12,"
                + "\"padding_share\":0.125,\"train_seconds\":0.25,\"gradient_seconds\":0.1875,"
                + "\"optimizer_seconds\":0.03125,\"reference_seconds\":0.0,\"wait_seconds\":0.75,"
                + "\"groups\":32,\"filtered\":3,\"requeued\":1,\"refused\":0,"
                + "\"verifier_millis_p50\":1.5,\"verifier_millis_p99\":40.0,"
                + "\"verifier_timeouts\":2,\"verifier_crashes\":1,\"verifier_waiting\":7,"
                + "\"reward_used\":0.5,\"all_right_share\":0.125,\"all_wrong_share\":0.25,"
                + "\"reference_kl_max\":0.75,\"stop_share\":0.875,\"stop_string_share\":0.0625,"
                + "\"length_share\":0.0625,\"reward_length_correlation\":-0.5,"
                + "\"length_right\":200.0,\"length_wrong\":300.0,\"cpu_seconds\":0.375,\"reused\":5}");
  }

  @Test
  void json_noEvaluation_leavesTheKeyOut() throws IOException {
    assertThat(JSON.readTree(JSON.writeValueAsString(Rows.first())).has("eval")).isFalse();
  }

  @Test
  void json_rowBeforeAnyStep_hasNoMeasuresOfTraining() throws IOException {
    assertThat(JSON.writeValueAsString(StepRow.before(1.5).evaluated(0.03)))
        .isEqualTo("{\"step\":0,\"seconds\":1.5,\"eval\":0.03}");
  }

  @Test
  void json_notFinite_isNullNotAWord() throws IOException {
    var json = JSON.readTree(JSON.writeValueAsString(Rows.undefined()));
    assertThat(json.get("reward").isNull()).isTrue();
    assertThat(json.get("eval").isNull()).isTrue();
    assertThat(json.toString()).doesNotContain("NaN", "Infinity");
  }

  @Test
  void catalogue_everyMetric_isDefined() {
    assertThat(MetricCatalogue.metrics())
        .hasSize(
            StepRow.class.getRecordComponents().length
                - 3 // named evaluations, the measures of training and of episodes
                + StepRow.Training.class.getRecordComponents().length
                + StepRow.Episodes.class.getRecordComponents().length)
        .allSatisfy(
            metric -> {
              assertThat(metric.meaning()).isNotBlank();
              assertThat(metric.reading()).isNotBlank();
            });
  }

  @Test
  void toMap_episodes_areFieldsAndReadBack() {
    StepRow plain = Rows.evaluated();
    StepRow row =
        new StepRow(
            plain.step(),
            plain.seconds(),
            plain.eval(),
            plain.evaluations(),
            plain.training(),
            Optional.of(new StepRow.Episodes(3, 2, 1.5, 0.75, 0.4, 0.5, 0, 0.5, 0, 0, 0, 0, 0)));

    assertThat(row.toMap())
        .containsEntry("episode_turns", 3.0)
        .containsEntry("episode_stop_max_turns", 0.5);
    assertThat(plain.toMap()).doesNotContainKey("episode_turns");
    assertThat(MetricCatalogue.rowOf(row.toMap())).isEqualTo(row);
  }

  @Test
  void toMap_namedEvaluations_areFieldsAndReadBack() {
    StepRow row =
        StepRow.before(1.5)
            .evaluated(new StepScores(Map.of(StepScores.HELD_OUT, 0.5, "sampled", 0.25)));

    assertThat(row.toMap()).containsEntry("eval", 0.5).containsEntry("eval_sampled", 0.25);
    assertThat(MetricCatalogue.rowOf(row.toMap())).isEqualTo(row);
  }

  /** Writes the page instead when -Dtroupe.docs.update=true. */
  @Test
  void catalogue_page_equalsDocs() throws IOException {
    if (Boolean.getBoolean("troupe.docs.update")) {
      Files.writeString(DOCS, page());
    }
    assertThat(DOCS)
        .as(
            "docs/metrics.md; write it with: mvn -pl modules/telemetry test"
                + " -Dtroupe.docs.update=true")
        .hasContent(page());
  }

  private static String page() {
    return MetricCatalogue.markdown() + "\n" + PrometheusText.markdown();
  }
}
