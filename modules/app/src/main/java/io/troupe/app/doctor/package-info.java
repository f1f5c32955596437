/** What {@code troupe doctor} looks at: one class a matter, in the list of {@link Checks}. */
@NullMarked
package io.troupe.app.doctor;

import org.jspecify.annotations.NullMarked;
