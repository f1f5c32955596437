package io.troupe.chat.python;

/** A text is no valid template, or a template refused its variables. The message names the line. */
public final class TemplateException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  public TemplateException(int line, String message) {
    super("line %d of the template: %s".formatted(line, message));
  }

  public TemplateException(String message) {
    super(message);
  }
}
