package io.troupe.gym.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.config.binding.ConfigurationException;
import io.troupe.config.schema.SchemaTables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class GymConfigTest {
  private static final Path CONF = Path.of("../../conf/gym-arithmetic.yaml");
  private static final Path PAGE = Path.of("../../docs/gym.md");

  @Test
  void load_shippedFile_plansThreeSeedsOfFourArms() {
    assertThat(GymConfig.load(CONF, List.of()).config().plan().trials()).hasSize(12);
  }

  @Test
  void load_shippedGymOfAPretrainedStudent_hasARecipeThatItReads() {
    GymConfig config = GymConfig.load(Path.of("../../conf/gym-gsm8k.yaml"), List.of()).config();

    assertThat(config.student().training(_ -> {}).chat()).isTrue();
    assertThat(config.plan().trials()).hasSize(2);
  }

  @Test
  void load_wrongValues_areNamedWithTheirRules() {
    assertThatThrownBy(
            () ->
                GymConfig.load(
                    CONF,
                    List.of("gate.weak=[sub/never]", "trials.arms=[]", "policy.context_length=8")))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("gate.weak: must be leaves of the task (add/nocarry")
        .hasMessageContaining("trials.arms: must list at least one arm")
        .hasMessageContaining("policy.context_length: must hold the longest prompt and answer");
  }

  @Test
  void load_keysOfPolicyThatAGymDoesNotUse_areRefused() {
    assertThatThrownBy(
            () ->
                GymConfig.load(
                    CONF,
                    List.of(
                        "policy.device=cuda",
                        "policy.precision=bfloat16",
                        "policy.torch=/opt/venv",
                        "policy.lora.rank=8")))
        .isInstanceOf(ConfigurationException.class)
        .hasMessageContaining("policy.device: must be cpu")
        .hasMessageContaining("policy.precision: must be float32")
        .hasMessageContaining("policy.torch: must be empty")
        .hasMessageContaining("policy.lora.rank: must be 0");
  }

  /** The keys of {@code policy} and of data sets are a run's, which docs/configuration.md has. */
  @Test
  void page_keys_areTheConfigurations() throws IOException {
    String tables = SchemaTables.markdown(GymConfig.class);
    String own =
        (tables.substring(0, tables.indexOf("\n## `policy`"))
                + tables.substring(tables.indexOf("\n## `student`")))
            .replace("\n## ", "\n### ");
    String page = Files.readString(PAGE);
    if (Boolean.getBoolean("troupe.docs.update")) {
      Files.writeString(PAGE, page.substring(0, page.indexOf("\n### `trials`")) + own);
    }

    assertThat(Files.readString(PAGE)).contains(own);
  }
}
