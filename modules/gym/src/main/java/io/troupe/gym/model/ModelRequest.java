package io.troupe.gym.model;

import io.troupe.base.hash.Sha256;
import java.nio.charset.StandardCharsets;

/**
 * A question to a language model.
 *
 * @param system text before the conversation
 * @param user the question
 * @param occasion difference between equal questions that want different answers, such as the
 *     number of a batch
 */
public record ModelRequest(String system, String user, String occasion) {
  /** Returns the digest of all that the answer depends on, under a model's own digest. */
  String key(String model) {
    return Sha256.hex(
        String.join("\u0000", model, system, user, occasion).getBytes(StandardCharsets.UTF_8));
  }
}
