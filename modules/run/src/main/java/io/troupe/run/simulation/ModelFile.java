package io.troupe.run.simulation;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.sim.model.DecodeModel;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.model.LengthModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;

/** The file of a {@link LatencyModel}: docs/simulation.md has its keys. */
public final class ModelFile {
  private static final int FORMAT = 1;

  /** Jackson's words for a key that is not there, and before those of a record that refuses. */
  private static final String MISSING = "Missing creator property";

  private static final String PROBLEM = "problem: ";

  private static final JsonMapper JSON =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .enable(SerializationFeature.INDENT_OUTPUT)
          .addMixIn(LengthModel.class, Lengths.class)
          .addMixIn(DecodeModel.class, Decode.class)
          .build();

  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
  @JsonSubTypes({
    @JsonSubTypes.Type(value = LengthModel.LogNormal.class, name = "log_normal"),
    @JsonSubTypes.Type(value = LengthModel.Uniform.class, name = "uniform"),
    @JsonSubTypes.Type(value = LengthModel.Empirical.class, name = "empirical")
  })
  private interface Lengths {}

  @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
  @JsonSubTypes({
    @JsonSubTypes.Type(value = DecodeModel.Linear.class, name = "linear"),
    @JsonSubTypes.Type(value = DecodeModel.Roofline.class, name = "roofline")
  })
  private interface Decode {}

  private ModelFile() {}

  /**
   * Reads a model.
   *
   * @throws UnmodelledRunException if the file is none; names the key and the rule
   */
  public static LatencyModel read(Path file) throws IOException, UnmodelledRunException {
    if (!Files.isRegularFile(file)) {
      throw new UnmodelledRunException(
          "there is no model file %s; `troupe fit RUN -o %s` makes one of a run"
              .formatted(file, file.getFileName()));
    }
    try {
      JsonNode tree = JSON.readTree(Files.readAllBytes(file));
      JsonNode format = tree.path("format");
      if (!(tree instanceof ObjectNode fields) || format.asInt(-1) != FORMAT) {
        throw new UnmodelledRunException(
            "%s is a model of format %s, and this program reads format %d; fit it again"
                .formatted(file, format.isMissingNode() ? "0" : format, FORMAT));
      }
      fields.remove("format");
      return JSON.treeToValue(fields, LatencyModel.class);
    } catch (JsonProcessingException wrong) {
      throw new UnmodelledRunException(
          "%s is no model: %s; fit it again, or mend it: docs/simulation.md has its keys"
              .formatted(file, reason(wrong)));
    }
  }

  private static String reason(JsonProcessingException wrong) {
    String where =
        wrong instanceof JsonMappingException mapping
            ? mapping.getPath().stream()
                .map(step -> String.valueOf(step.getFieldName()))
                .collect(Collectors.joining("."))
            : "";
    String what = wrong.getOriginalMessage();
    if (what.startsWith(MISSING)) {
      return where + " is missing";
    }
    if (wrong instanceof UnrecognizedPropertyException) {
      return where + " is no key of a model";
    }
    int problem = what.indexOf(PROBLEM);
    String said = problem < 0 ? what : what.substring(problem + PROBLEM.length());
    return where.isEmpty() ? said : where + ": " + said;
  }

  /** Writes a model, whole or not at all. */
  public static void write(Path file, LatencyModel model) throws IOException {
    ObjectNode tree = JSON.createObjectNode().put("format", FORMAT);
    tree.setAll((ObjectNode) JSON.valueToTree(model));
    AtomicFile.replace(file, JSON.writeValueAsBytes(tree));
  }

  /** The model beside a configuration: {@code FILE.model.json} for {@code FILE.yaml}. */
  public static Path beside(Path configuration) {
    String name = String.valueOf(configuration.getFileName());
    int dot = name.lastIndexOf('.');
    return configuration.resolveSibling((dot > 0 ? name.substring(0, dot) : name) + ".model.json");
  }
}
