package io.troupe.chat.jinja;

import io.troupe.chat.python.TemplateException;
import io.troupe.chat.python.TemplateValue;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A parsed template; immutable, and safe to share between threads. */
public final class Template {
  private final List<Statement> body;
  private final Clock clock;

  private Template(List<Statement> body, Clock clock) {
    this.body = body;
    this.clock = clock;
  }

  /**
   * Parses a template.
   *
   * @param clock of {@code strftime_now}
   * @throws TemplateException if the text is no template; the message names the line
   */
  public static Template parse(String source, Clock clock) {
    return new Template(StatementParser.parse(source), clock);
  }

  /**
   * Renders the template.
   *
   * @param variables null, booleans, numbers, strings, lists, and maps with string keys
   * @throws TemplateException if the template refuses the variables, or an operation fails
   */
  public String render(Map<String, ? extends @Nullable Object> variables) {
    Map<String, TemplateValue> values = new HashMap<>(TemplateFunctions.globals(clock));
    variables.forEach((name, value) -> values.put(name, TemplateValue.of(value)));
    return Interpreter.run(body, VariableScope.of(values));
  }
}
