package io.troupe.chat.jinja;

import io.troupe.chat.python.TemplateException;
import io.troupe.chat.python.TemplateValue;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A parsed template; immutable, and safe to share between threads. */
public final class Template {
  private final String source;
  private final List<Statement> body;
  private final Clock clock;

  private Template(String source, List<Statement> body, Clock clock) {
    this.source = source;
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
    return new Template(source, StatementParser.parse(source), clock);
  }

  /** Whether a word occurs in the template, as the name of each of its variables does. */
  public boolean mentions(String word) {
    return Pattern.compile("\\b%s\\b".formatted(Pattern.quote(word))).matcher(source).find();
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
