package io.troupe.verifiers.instructions;

import io.troupe.verifiers.instructions.InstructionArguments.BadArgumentException;
import io.troupe.verifiers.python.PythonLiteralReader;
import io.troupe.verifiers.python.PythonValue;
import io.troupe.verifiers.python.PythonValue.Dict;
import io.troupe.verifiers.python.PythonValue.Items;
import io.troupe.verifiers.python.PythonValue.None;
import io.troupe.verifiers.python.PythonValue.Text;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The instructions of one prompt.
 *
 * @param tasks in the prompt's order
 */
record PromptInstructions(List<InstructionTask> tasks) {
  /**
   * One instruction with its arguments.
   *
   * @param id of a kind of instruction, which may not exist
   */
  record InstructionTask(String id, InstructionArguments arguments) {}

  PromptInstructions {
    tasks = List.copyOf(tasks);
  }

  /**
   * Reads a JSON object with {@code instruction_id_list} and {@code kwargs}; or, as training sets
   * have it, a Python literal or JSON of a list whose first element is such an object, or the JSON
   * of one, with {@code instruction_id} and {@code kwargs}.
   *
   * @throws BadArgumentException if that cannot be read
   */
  static PromptInstructions parse(String text) {
    PythonValue value = read(text);
    if (value instanceof Items(var items) && !items.isEmpty()) {
      value = items.getFirst();
    }
    if (value instanceof Text(var inner)) {
      value = read(inner);
    }
    PythonValue label = value;
    List<PythonValue> ids =
        items(
            label
                .get("instruction_id_list")
                .or(() -> label.get("instruction_id"))
                .orElseThrow(() -> new BadArgumentException("no instruction_id_list")));
    List<PythonValue> kwargs =
        label
            .get("kwargs")
            .filter(v -> !(v instanceof None))
            .map(PromptInstructions::items)
            .orElse(List.of());
    if (kwargs.size() > ids.size()) {
      throw new BadArgumentException("more kwargs than instructions");
    }
    List<InstructionTask> tasks = new ArrayList<>();
    for (int i = 0; i < ids.size(); i++) {
      PythonValue given = i < kwargs.size() ? kwargs.get(i) : new None();
      tasks.add(new InstructionTask(text(ids.get(i)), arguments(given)));
    }
    return new PromptInstructions(tasks);
  }

  /**
   * Reads a JSON object with a {@code func_name} and the function's arguments, beside it or in
   * {@code args}.
   *
   * @throws BadArgumentException if that cannot be read
   */
  static PromptInstructions parseFunction(String text) {
    if (!(read(text) instanceof Dict(var entries))) {
      throw new BadArgumentException("not an object");
    }
    Optional<PythonValue> name = Optional.ofNullable(entries.get("func_name"));
    Map<String, PythonValue> arguments = new HashMap<>(entries);
    arguments.remove("func_name");
    if (arguments.remove("args") instanceof Dict(var nested)) {
      arguments.putAll(nested);
    }
    return new PromptInstructions(
        List.of(
            new InstructionTask(
                text(name.orElseThrow(() -> new BadArgumentException("no func_name"))),
                new InstructionArguments(arguments))));
  }

  private static PythonValue read(String text) {
    return PythonLiteralReader.json(text)
        .or(() -> PythonLiteralReader.literal(text.strip()))
        .orElseThrow(() -> new BadArgumentException("neither JSON nor a Python literal"));
  }

  private static InstructionArguments arguments(PythonValue value) {
    return switch (value) {
      case None _ -> new InstructionArguments(Map.of());
      case Dict(var entries) -> new InstructionArguments(entries);
      default -> throw new BadArgumentException("kwargs hold something that is no object");
    };
  }

  private static List<PythonValue> items(PythonValue value) {
    if (value instanceof Items(var items)) {
      return items;
    }
    throw new BadArgumentException("instruction_id_list or kwargs is no list");
  }

  private static String text(PythonValue value) {
    if (value instanceof Text(var text)) {
      return text;
    }
    throw new BadArgumentException("an instruction's id is no text");
  }
}
