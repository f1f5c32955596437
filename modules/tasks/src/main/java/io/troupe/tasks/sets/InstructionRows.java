package io.troupe.tasks.sets;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.RowJson;

/**
 * Prompts with instructions that a program can check: IFEval (Zhou et al. 2023) and IFBench
 * (Pyatkin et al. 2025).
 *
 * <p>The question is the unchanged prompt; the answer holds {@code instruction_id_list}, {@code
 * kwargs} (one object an instruction, absent values left out) and {@code prompt}; there is no
 * solution; the id is the prefix and the row's key.
 */
record InstructionRows(String idPrefix) implements RowFormat {
  @Override
  public RowOutcome read(Row row) throws RowException {
    String prompt = row.text("prompt");
    if (row.texts("instruction_id_list").isEmpty()) {
      throw row.bad("instruction_id_list", "must hold an instruction, or anything would pass");
    }
    JsonNode instructions = row.fields().path("instruction_id_list");
    JsonNode given = row.fields().path("kwargs");
    if (!given.isArray() || given.size() != instructions.size()) {
      throw row.bad("kwargs", "must hold one object for each instruction");
    }
    ObjectNode answer = RowJson.object();
    answer.set("instruction_id_list", instructions);
    ArrayNode kwargs = answer.putArray("kwargs");
    for (JsonNode each : given) {
      ObjectNode kept = kwargs.addObject();
      each.properties().stream()
          .filter(entry -> !entry.getValue().isNull())
          .forEach(entry -> kept.set(entry.getKey(), entry.getValue()));
    }
    answer.put("prompt", prompt);
    return new RowOutcome.Taken(
        DataItem.of(idPrefix + row.scalar("key"), prompt, answer.toString(), ""));
  }
}
