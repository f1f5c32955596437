/** Values of Python and what its operators and methods make of them, as far as templates use it. */
@NullMarked
package io.troupe.chat.python;

import org.jspecify.annotations.NullMarked;
