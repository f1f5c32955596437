package io.troupe.gateway.dialog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.chat.ChatTemplate;
import io.troupe.chat.JinjaChatTemplate;
import io.troupe.environments.ToolSchema;
import io.troupe.gateway.dialog.ChatMessage.Role;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TemplateFormatsTest {
  private static final List<ToolDeclaration> TOOLS =
      List.of(new ToolDeclaration("calc", "d", "{\"type\":\"object\"}"));
  private static final List<ChatMessage> QUESTION = List.of(ChatMessage.of(Role.USER, "q"));

  private static ChatTemplate template(String source) {
    return JinjaChatTemplate.of(source, Map.of(), Clock.systemUTC());
  }

  private static Conversation conversation(ChatTemplate template) {
    return TemplateFormats.conversation(ChatmlFixture.TOKENIZER, template);
  }

  @Test
  void conversation_templateOfHermes_readsItsCalls() {
    Conversation found = conversation(ChatmlFixture.template());
    assertThat(
            found
                .parse(
                    "<tool_call>{\"name\": \"calc\", \"arguments\": {\"e\": 1}}</tool_call>", TOOLS)
                .calls())
        .extracting(ChatCall::arguments)
        .containsExactly("{\"e\": 1}");
    assertThat(ChatmlFixture.shown(found.whole(QUESTION, TOOLS))).contains("calc");
  }

  @Test
  void conversation_templateWithoutTools_refusesThemAlone() {
    Conversation found =
        conversation(template("{% for m in messages %}{{ m.role }}:{{ m.content }}{% endfor %}"));
    assertThat(ChatmlFixture.shown(found.whole(QUESTION, List.of()))).isEqualTo("user:q");
    assertThatThrownBy(() -> found.whole(QUESTION, TOOLS))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the policy's chat template shows no tools; ask without tools");
  }

  @Test
  void conversation_resultsInAnUnknownFormat_refusesTools() {
    Conversation found =
        conversation(
            template("{{ tools | tojson }}{% for m in messages %}{{ m.content }}{% endfor %}"));
    assertThatThrownBy(() -> found.whole(QUESTION, TOOLS))
        .hasMessage(
            "the policy's chat template shows results of tools in no known format; ask without tools");
  }

  @Test
  void showing_schemaThatIsNone_isRefused() {
    List<ToolSchema> tools = List.of(new ToolSchema("calc", "d", "nothing"));
    ChatTemplate plain = ChatmlFixture.template();
    assertThatThrownBy(() -> TemplateFormats.showing(plain, tools))
        .hasMessage("tool calc: its parameters are no JSON schema: nothing");
  }
}
