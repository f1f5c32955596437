package io.troupe.chat;

import io.troupe.engine.Tokenizer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A policy's chat template whose special tokens come from the template alone: where the texts of a
 * conversation, or its tools, spell one, they are rendered as {@link Tokenizer#literal} marks them,
 * and encoded as letters.
 */
public record LiteralTemplate(ChatTemplate template, Tokenizer tokenizer)
    implements WrappingTemplate {
  private static final List<String> DATA = List.of("messages", "tools", "documents");

  @Override
  public String render(
      List<Message> messages, boolean addGenerationPrompt, Map<String, Object> arguments) {
    Map<String, Object> literal = new HashMap<>(arguments);
    for (String name : DATA) {
      Object value = arguments.get(name);
      if (value != null) {
        literal.put(name, Objects.requireNonNull(literal(value)));
      }
    }
    return template.render(
        messages.stream()
            .map(each -> new Message(each.role(), tokenizer.literal(each.content())))
            .toList(),
        addGenerationPrompt,
        literal);
  }

  private @Nullable Object literal(@Nullable Object value) {
    if (value instanceof String text) {
      return tokenizer.literal(text);
    }
    if (value instanceof List<?> list) {
      List<@Nullable Object> marked = new ArrayList<>();
      list.forEach(each -> marked.add(literal(each)));
      return marked;
    }
    if (value instanceof Map<?, ?> map) {
      Map<Object, @Nullable Object> marked = new LinkedHashMap<>();
      map.forEach((key, each) -> marked.put(key, literal(each)));
      return marked;
    }
    return value;
  }
}
