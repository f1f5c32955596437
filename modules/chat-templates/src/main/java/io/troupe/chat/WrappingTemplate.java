package io.troupe.chat;

/** A template that renders by another one, with more or other arguments. */
public interface WrappingTemplate extends ChatTemplate {
  /** The other template. */
  ChatTemplate template();

  @Override
  default boolean mentions(String variable) {
    return template().mentions(variable);
  }

  @Override
  default boolean decidesThinking() {
    return template().decidesThinking();
  }
}
