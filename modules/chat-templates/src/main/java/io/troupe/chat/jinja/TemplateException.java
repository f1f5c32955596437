package io.troupe.chat.jinja;

/** A template is no template, or refused what it was given. The message names the line. */
public final class TemplateException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  TemplateException(int line, String message) {
    super("line %d of the template: %s".formatted(line, message));
  }

  TemplateException(String message) {
    super(message);
  }
}
