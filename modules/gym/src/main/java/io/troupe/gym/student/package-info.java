/** Students: how their weights are made, trained and asked. */
@NullMarked
package io.troupe.gym.student;

import org.jspecify.annotations.NullMarked;
