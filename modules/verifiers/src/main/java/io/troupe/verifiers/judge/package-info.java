/** Verification by a language model behind an OpenAI-compatible endpoint. */
@NullMarked
package io.troupe.verifiers.judge;

import org.jspecify.annotations.NullMarked;
