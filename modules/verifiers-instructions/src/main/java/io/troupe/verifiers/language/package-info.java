/** Natural language as instruction checkers see it: tokens, sentences, syllables, languages. */
@NullMarked
package io.troupe.verifiers.language;

import org.jspecify.annotations.NullMarked;
