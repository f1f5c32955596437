package io.troupe.gym.factory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FactoryRecipeTest {
  @TempDir private Path root;

  private FactoryRecipe recipe(String text) throws IOException {
    return FactoryRecipe.read(Files.writeString(root.resolve("recipe.yaml"), text));
  }

  @Test
  void read_anExampleOfLlamaFactory_keepsItsKeysButThoseOfOneTraining() throws IOException {
    FactoryRecipe recipe =
        recipe(
            """
            ### model
            model_name_or_path: meta-llama/Meta-Llama-3-8B-Instruct
            stage: sft
            do_train: true
            finetuning_type: lora
            lora_rank: 8
            dataset: identity,alpaca_en_demo
            template: llama3
            output_dir: saves/llama3-8b/lora/sft
            overwrite_output_dir: true
            per_device_train_batch_size: 2
            gradient_accumulation_steps: 8
            learning_rate: 1.0e-4
            """);

    assertThat(recipe.chat()).isTrue();
    assertThat(recipe.settings("/students/base", 1).withSeed(7).yaml("d", "/data", "/out"))
        .contains("model_name_or_path: '/students/base'\n")
        .contains("template: 'llama3'\n")
        .contains("dataset: 'd'\n")
        .contains("output_dir: '/out'\n")
        .contains("gradient_accumulation_steps: 8\n")
        .contains("learning_rate: 1.0e-4\n")
        .contains("lora_rank: 8\n")
        .contains("seed: 7\n")
        .doesNotContain("identity");
    assertThat(recipe("template: empty").chat()).isFalse();
  }

  @Test
  void read_whatNoGymTrainsWith_isRefusedWithItsKey() {
    assertThatThrownBy(() -> recipe("template: llama3\nstage: dpo"))
        .hasMessageContaining("recipe.yaml: stage is dpo, and a gym trains with sft");
    assertThatThrownBy(() -> recipe("stage: sft")).hasMessageContaining("has no template");
    assertThatThrownBy(() -> recipe("template: llama3\nray_run_name: r"))
        .hasMessageContaining("recipe.yaml: ray_run_name is no key that may be set");
    assertThatThrownBy(() -> recipe("template: llama3\nlora_target: [q_proj]"))
        .hasMessageContaining("line 2: a key has one value");
    assertThatThrownBy(() -> recipe("template: [")).hasMessageContaining("cannot be read");
    assertThatThrownBy(() -> recipe("- a")).hasMessageContaining("has no keys");
    assertThatThrownBy(() -> FactoryRecipe.read(root.resolve("absent.yaml")))
        .hasMessageContaining("absent.yaml cannot be read");
  }
}
