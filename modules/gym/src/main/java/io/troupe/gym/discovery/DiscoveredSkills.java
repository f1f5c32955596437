package io.troupe.gym.discovery;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.files.AtomicFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Skills of items, in the form of DataEnvGym's files.
 *
 * @param labels the skill of each item, by its id
 * @param categories of skills
 * @param categoryOf the category of each item, by its id
 */
public record DiscoveredSkills(
    Map<String, String> labels, List<Category> categories, Map<String, String> categoryOf) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * A category.
   *
   * @param skills labels that belong to it
   */
  public record Category(String name, List<String> skills) {
    public Category {
      skills = List.copyOf(skills);
    }
  }

  public DiscoveredSkills {
    labels = Map.copyOf(labels);
    categories = List.copyOf(categories);
    categoryOf = Map.copyOf(categoryOf);
  }

  /** Writes a file that {@link #read} reads. */
  public void write(Path file) throws IOException {
    ObjectNode all = JSON.createObjectNode();
    var labelled = all.putArray("labeled_instructions");
    new TreeMap<>(labels)
        .forEach((id, skill) -> labelled.addObject().put("instance_id", id).put("skill", skill));
    var listed = all.putArray("skill_categories");
    for (int i = 0; i < categories.size(); i++) {
      var node = listed.addObject().put("category_id", i);
      node.put("descriptive_name", categories.get(i).name());
      categories.get(i).skills().forEach(node.putArray("skills")::add);
    }
    ObjectNode of = all.putObject("instance_id_to_skill_category");
    new TreeMap<>(categoryOf).forEach(of::put);
    AtomicFile.replace(file, JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(all));
  }

  /** Reads a file. */
  public static DiscoveredSkills read(Path file) throws IOException {
    JsonNode all = JSON.readTree(Files.readAllBytes(file));
    Map<String, String> labels = new TreeMap<>();
    for (JsonNode each : all.path("labeled_instructions")) {
      labels.put(each.path("instance_id").asText(), each.path("skill").asText());
    }
    List<Category> categories = new ArrayList<>();
    for (JsonNode each : all.path("skill_categories")) {
      List<String> skills = new ArrayList<>();
      each.path("skills").forEach(skill -> skills.add(skill.asText()));
      categories.add(new Category(each.path("descriptive_name").asText(), skills));
    }
    Map<String, String> of = new TreeMap<>();
    all.path("instance_id_to_skill_category")
        .properties()
        .forEach(each -> of.put(each.getKey(), each.getValue().asText()));
    return new DiscoveredSkills(labels, categories, of);
  }
}
