package io.troupe.core.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Prompts that end inside a thought, and others. */
final class OpenThoughtTest {
  @ParameterizedTest(name = "{0}: {1}")
  @CsvSource(
      delimiter = '|',
      ignoreLeadingAndTrailingWhitespace = false,
      value = {
        "true|<｜User｜>q<｜Assistant｜><think>\\n",
        "true|<~im_start~>assistant\\n<think>\\n",
        "true|<~im_start~>assistant\\n<think>\\nLet me",
        "true|<~end_header_id~>\\n\\n<think>Let me",
        "true|Q: 1+1?\\nA: <think>",
        "true|<think>\\nold\\n</think>\\n\\nA\\nQ: more\\nA:\\n<think>\\n",
        "true|[INST]q[/INST][THINK]",
        "true|[INST]q[/INST][THINK]Let me",
        "true|<~start~>assistant<~channel~>analysis<~message~>",
        "true|<~start~>assistant<~channel~>analysis<~message~>Let me",
        "true|<~turn>model\\n<~channel>thought\\n",
        "false|<~turn>model\\n<~channel>thought\\n<channel~>",
        "false|[INST][THINK]\\nwhat?[/INST]",
        "false|<seed:bos>user\\n<seed:think>?<seed:eos><seed:bos>assistant\\n",
        "false|[~user~]<thought>?[~endofturn~]\\n[~assistant~]",
        "false|<~turn>user\\n<~channel>thought?<turn~>\\n<~turn>model\\n",
        "false|Q: 1+1?\\nA:",
        "false|<~im_start~>assistant\\n<think>\\n\\n</think>\\n\\n",
        "false|<~im_start~>user\\n<think> is a tag?<~im_end~>\\n<~im_start~>assistant\\n",
        "false|[INST] <think>\\nwhat? [/INST]",
        "false|<start_of_turn>user\\n<think>\\nwhat?<end_of_turn>\\n<start_of_turn>model\\n",
        "false|Q: what does <think> mean?\\nA:",
        "false|Q: a thought is <think>...</think>\\nA:",
      })
  void endsInside_aPrompt_whetherItOpensAThought(boolean inside, String prompt) {
    String text = prompt.replace("\\n", "\n").replace('~', '|');
    assertThat(OpenThought.endsInside(text)).isEqualTo(inside);
  }
}
