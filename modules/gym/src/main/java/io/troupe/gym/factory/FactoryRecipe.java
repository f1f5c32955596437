package io.troupe.gym.factory;

import static io.troupe.core.Require.require;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;

/**
 * A configuration file of LLaMA-Factory for supervised training, as its own examples are, by which
 * a gym trains. The gym replaces the keys that follow from each training: model, data sets, output
 * and accumulation.
 *
 * @param file of the recipe
 * @param template name of LLaMA-Factory's chat template
 * @param overrides the other keys
 */
public record FactoryRecipe(Path file, String template, Map<String, String> overrides) {
  /** The template that shows a prompt as it is. */
  private static final String NO_TEMPLATE = "empty";

  /** Keys with the only value that a gym's training has. */
  private static final Map<String, String> FIXED = Map.of("stage", "sft", "do_train", "true");

  /**
   * Reads a recipe.
   *
   * @throws IllegalArgumentException if it is none; names the key
   */
  public static FactoryRecipe read(Path file) {
    Map<String, String> keys = keys(file);
    FIXED.forEach(
        (key, value) -> {
          String found = keys.getOrDefault(key, value);
          require(
              found.equals(value),
              "student.recipe: %s: %s is %s, and a gym trains with %s",
              file,
              key,
              found,
              value);
        });
    String template = keys.getOrDefault("template", "");
    require(
        !template.isEmpty(),
        "student.recipe: %s has no template; name LLaMA-Factory's chat template of the student, or"
            + " empty",
        file);
    keys.keySet().removeAll(FIXED.keySet());
    keys.keySet().removeAll(FactorySettings.OURS);
    FactoryRecipe recipe = new FactoryRecipe(file, template, Map.copyOf(keys));
    try {
      FactorySettings _ = recipe.settings("", 1);
    } catch (IllegalArgumentException key) {
      throw new IllegalArgumentException(
          "student.recipe: %s: %s".formatted(file, key.getMessage()), key);
    }
    return recipe;
  }

  private static Map<String, String> keys(Path file) {
    Map<String, String> keys = new LinkedHashMap<>();
    try (Reader text = Files.newBufferedReader(file)) {
      Node root = new Yaml(new LoaderOptions()).compose(text);
      require(
          root instanceof MappingNode, "student.recipe: %s has no keys; it must have some", file);
      for (NodeTuple each : ((MappingNode) root).getValue()) {
        require(
            each.getKeyNode() instanceof ScalarNode && each.getValueNode() instanceof ScalarNode,
            "student.recipe: %s, line %d: a key has one value, no list and no section",
            file,
            each.getKeyNode().getStartMark().getLine() + 1);
        keys.put(
            ((ScalarNode) each.getKeyNode()).getValue(),
            ((ScalarNode) each.getValueNode()).getValue());
      }
    } catch (IOException | YAMLException unreadable) {
      throw new IllegalArgumentException(
          "student.recipe: %s cannot be read: %s".formatted(file, unreadable.getMessage()),
          unreadable);
    }
    return keys;
  }

  /** Whether a prompt is a message of the chat template. */
  public boolean chat() {
    return !template.equals(NO_TEMPLATE);
  }

  /** Returns the settings of one training. */
  public FactorySettings settings(String model, int gpus) {
    return new FactorySettings(model, template, gpus, overrides);
  }
}
