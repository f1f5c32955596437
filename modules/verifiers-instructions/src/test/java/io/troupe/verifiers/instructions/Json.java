package io.troupe.verifiers.instructions;

import io.troupe.verifiers.python.PythonValue;
import io.troupe.verifiers.python.PythonValue.Bool;
import io.troupe.verifiers.python.PythonValue.Dict;
import io.troupe.verifiers.python.PythonValue.Items;
import io.troupe.verifiers.python.PythonValue.None;
import io.troupe.verifiers.python.PythonValue.Num;
import io.troupe.verifiers.python.PythonValue.Text;
import java.util.stream.Collectors;

/** Writes values as JSON. */
final class Json {
  private Json() {}

  static String of(PythonValue value) {
    return switch (value) {
      case None _ -> "null";
      case Bool(var bool) -> String.valueOf(bool);
      case Num(var number) -> String.valueOf(number);
      case Text(var text) -> quoted(text);
      case Items(var items) ->
          items.stream().map(Json::of).collect(Collectors.joining(",", "[", "]"));
      case Dict(var entries) ->
          entries.entrySet().stream()
              .map(entry -> quoted(entry.getKey()) + ":" + of(entry.getValue()))
              .collect(Collectors.joining(",", "{", "}"));
    };
  }

  static String quoted(String text) {
    StringBuilder json = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ' || Character.isSurrogate(c)) {
        json.append("\\u%04x".formatted((int) c));
      } else {
        json.append(c);
      }
    }
    return json.append('"').toString();
  }
}
