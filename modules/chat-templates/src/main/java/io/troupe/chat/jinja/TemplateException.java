package io.troupe.chat.jinja;

/** A text is no valid template, or a template refused its variables. The message names the line. */
public final class TemplateException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  TemplateException(int line, String message) {
    super("line %d of the template: %s".formatted(line, message));
  }

  TemplateException(String message) {
    super(message);
  }
}
